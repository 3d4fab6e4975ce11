/* CUDA's and HIP's vectors for sources in C that take nothing else of a GPU: laid out as the simulator's (vectors.h). */
#ifndef CU2PORT_SIM_C_VECTOR_TYPES_H
#define CU2PORT_SIM_C_VECTOR_TYPES_H

#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __host__
#define __host__
#define __device__
#endif

#define CU2PORT_SIM_C_VECTORS(type, name, two, four)                                   \
    typedef struct name##1 { type x; } name##1;                                        \
    typedef struct name##2 { type x, y; } __attribute__((aligned(two))) name##2;       \
    typedef struct name##3 { type x, y, z; } name##3;                                  \
    typedef struct name##4 { type x, y, z, w; } __attribute__((aligned(four))) name##4;

CU2PORT_SIM_C_VECTORS(signed char, char, 2, 4)
CU2PORT_SIM_C_VECTORS(unsigned char, uchar, 2, 4)
CU2PORT_SIM_C_VECTORS(short, short, 4, 8)
CU2PORT_SIM_C_VECTORS(unsigned short, ushort, 4, 8)
CU2PORT_SIM_C_VECTORS(int, int, 8, 16)
CU2PORT_SIM_C_VECTORS(unsigned int, uint, 8, 16)
CU2PORT_SIM_C_VECTORS(long, long, 2 * sizeof(long), 16)
CU2PORT_SIM_C_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16)
CU2PORT_SIM_C_VECTORS(long long, longlong, 16, 16)
CU2PORT_SIM_C_VECTORS(unsigned long long, ulonglong, 16, 16)
CU2PORT_SIM_C_VECTORS(float, float, 8, 16)
CU2PORT_SIM_C_VECTORS(double, double, 16, 16)
typedef struct dim3 { unsigned int x, y, z; } dim3;

#undef CU2PORT_SIM_C_VECTORS
#endif
