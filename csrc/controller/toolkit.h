/* toolkit.h: all headers that a protocol file needs. */
#ifndef GPC_CONTROLLER_TOOLKIT_H
#define GPC_CONTROLLER_TOOLKIT_H

#include "controller/actions.h"
#include "controller/clock.h"
#include "controller/host.h"
#include "controller/lease.h"
#include "controller/logical.h"
#include "controller/metadata.h"
#include "controller/owners.h"
#include "controller/requests.h"
#include "controller/sharers.h"
#include "controller/stamps.h"
#include "controller/timestamps.h"
#include "controller/versions.h"
#include "controller/writer.h"

#endif
