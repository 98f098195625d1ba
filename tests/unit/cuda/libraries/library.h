// library.h: what the programs of this folder share: statuses that are reported, arrays of the device, printed vectors.
#include <cstdio>
#include <string>
#include <vector>

inline void
check(int status, int wanted, const char *what)
{
    if (status != wanted)
        printf("status of %s: %d instead of %d\n", what, status, wanted);
}

template <class T>
T *
device(const std::vector<T> &values)
{
    T *made;
    cudaMalloc(&made, values.size() * sizeof(T));
    cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return made;
}

// An array of numbers of the input.
template <class T>
T *
given(int size)
{
    std::vector<T> values(size);
    for (T &value : values) {
        double number = 0;
        if (scanf("%lf", &number) != 1)
            printf("status of the input\n");
        value = T(number);
    }
    return device(values);
}

template <class T>
void
print(const std::string &name, const T *from, int size)
{
    std::vector<T> values(size);
    cudaMemcpy(values.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s", name.c_str());
    for (T value : values)
        printf(" %.17g", double(value));
    printf("\n");
}
