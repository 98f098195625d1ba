"""What a run's row and dictionary say of the host: the time that it took. Equal runs differ in it."""

HOST = ["wall_s", "cpu_s"]
