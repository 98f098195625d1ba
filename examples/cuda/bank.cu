// bank.cu: transfers between accounts. A thread takes the locks of both accounts, the lower one first, or gives the
// first back and tries again. Sixteen accounts share a line, which moves between cores that share no account.
#include <vector>
#include "accesses.h"

enum { ACCOUNTS = 2048, BLOCKS = 28, THREADS = 64, TRANSFERS = 4 };

struct Account {
    unsigned lock, balance;
};

struct Transfer {
    unsigned from, to, amount;
};

__host__ __device__ Transfer transfer_of(unsigned thread, unsigned number)
{
    unsigned hash = (thread * TRANSFERS + number + 1) * 2654435761u;
    hash ^= hash >> 15;
    hash *= 2246822519u;
    unsigned from = (hash >> 8) % ACCOUNTS;
    return {from, (from + 1 + (hash & 255)) % ACCOUNTS, hash >> 28};
}

__device__ bool take(Account *account)
{
    unsigned old;
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(&account->lock) : "memory");
    return old == 0;
}

__device__ void give(Account *account) { SET(release.gpu, u32, &account->lock, 0); }

__global__ void transfers(Account *accounts)
{
    for (unsigned number = 0; number < TRANSFERS; number++) {
        Transfer one = transfer_of(blockIdx.x * THREADS + threadIdx.x, number);
        Account *from = accounts + one.from, *to = accounts + one.to;
        Account *first = from < to ? from : to, *second = from < to ? to : from;
        for (bool done = false; !done;) {
            if (take(first)) {
                if (take(second)) {
                    from->balance -= one.amount;
                    to->balance += one.amount;
                    give(second);
                    done = true;
                }
                give(first);
            }
        }
    }
}

int main()
{
    std::vector<Account> found(ACCOUNTS, {0, 1000}), wanted = found;
    for (unsigned thread = 0; thread < BLOCKS * THREADS; thread++) {
        for (unsigned number = 0; number < TRANSFERS; number++) {
            Transfer one = transfer_of(thread, number);
            wanted[one.from].balance -= one.amount;
            wanted[one.to].balance += one.amount;
        }
    }
    Account *accounts;
    cudaMalloc(&accounts, ACCOUNTS * sizeof(Account));
    cudaMemcpy(accounts, found.data(), ACCOUNTS * sizeof(Account), cudaMemcpyHostToDevice);
    transfers<<<BLOCKS, THREADS>>>(accounts);
    cudaMemcpy(found.data(), accounts, ACCOUNTS * sizeof(Account), cudaMemcpyDeviceToHost);
    for (int i = 0; i < ACCOUNTS; i++) {
        if (found[i].balance != wanted[i].balance) {
            printf("wrong: account %d has %u instead of %u\n", i, found[i].balance, wanted[i].balance);
            return 1;
        }
    }
    printf("%d transfers between %d accounts: every balance is right\n", BLOCKS * THREADS * TRANSFERS, ACCOUNTS);
}
