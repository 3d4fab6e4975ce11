// Textures and surfaces over images whose texel (x, y) is 10 * y + x, and copies of arrays and boxes.
#include "suite.h"

#include <cmath>

constexpr int kW = 8, kH = 4;

static hipTextureObject_t texture_of(hipArray_t a, hipTextureFilterMode filter, hipTextureAddressMode mode, bool normalized,
                                     hipTextureReadMode read = hipReadModeElementType) {
    hipResourceDesc r = {};
    r.resType = hipResourceTypeArray;
    r.res.array.array = a;
    hipTextureDesc s = {};
    for (auto& m : s.addressMode) m = mode;
    s.filterMode = filter;
    s.readMode = read;
    s.normalizedCoords = normalized;
    s.borderColor[0] = -1;
    hipTextureObject_t t = nullptr;
    (void)hipCreateTextureObject(&t, &r, &s, nullptr);
    return t;
}

__global__ void points(hipTextureObject_t t, float* out) {
    const int x = threadIdx.x % kW, y = threadIdx.x / kW;
    out[threadIdx.x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void at(hipTextureObject_t t, const float2* where, float* out) {
    out[threadIdx.x] = tex2D<float>(t, where[threadIdx.x].x, where[threadIdx.x].y);
}
__global__ void fetch(hipTextureObject_t t, int* out) { out[threadIdx.x] = tex1Dfetch<int>(t, static_cast<int>(threadIdx.x) - 2); }
__global__ void normalized(hipTextureObject_t t, float* out) {
    const float4 v = tex2D<float4>(t, 0.5f, 0.5f);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}
__global__ void volume(hipTextureObject_t t, float* out) {
    out[0] = tex3D<float>(t, 1.5f, 1.5f, 1.5f);
    out[1] = tex3D<float>(t, 1.5f, 1.5f, 2.0f);
}
__global__ void corners(hipTextureObject_t t, float* out) {
    const float4 v = tex2Dgather<float4>(t, 3.f, 2.f, 0);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}
__global__ void invert(hipSurfaceObject_t s, int* seen) {
    const int x = threadIdx.x % kW, y = threadIdx.x / kW;
    float v;
    surf2Dread(&v, s, x * 4, y);
    surf2Dwrite(-v, s, x * 4, y);
    seen[threadIdx.x] = surf2Dread<float>(s, (x + kW) * 4, y) == 0;  // outside: zero
    surf2Dwrite(1.f, s, x * 4, kH + y);                             // outside: nothing
}
static texture<float, hipTextureType1D, hipReadModeElementType> bound;
static texture<float, 2> bound2;
__global__ void by_reference(float* out) {
    out[threadIdx.x] = tex1Dfetch(bound, threadIdx.x) + tex2D(bound2, threadIdx.x + 0.5f, 1.5f);
}

static float ask(hipTextureObject_t t, float x, float y) {
    Out<float2> where(1);
    const float2 p(x, y);
    (void)hipMemcpy(where.d, &p, sizeof p, hipMemcpyHostToDevice);
    Out<float> out(1);
    at<<<1, 1>>>(t, where.d, out.d);
    return out.get()[0];
}

int main() {
    float image[kH][kW];
    for (int i = 0; i < kW * kH; ++i) image[i / kW][i % kW] = static_cast<float>(10 * (i / kW) + i % kW);
    const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    say("channel description", format.x == 32 && format.y == 0 && format.f == hipChannelFormatKindFloat &&
                                   hipCreateChannelDesc<uchar4>().w == 8 && hipCreateChannelDesc<short2>().f == hipChannelFormatKindSigned);
    hipArray_t a = nullptr;
    say("array", hipMallocArray(&a, &format, kW, kH) == hipSuccess &&
                     hipMemcpy2DToArray(a, 0, 0, image, sizeof image[0], sizeof image[0], kH, hipMemcpyHostToDevice) == hipSuccess);
    say("too wide for the array", hipMemcpy2DToArray(a, 4, 0, image, sizeof image[0], sizeof image[0], kH, hipMemcpyHostToDevice) == hipErrorInvalidValue);

    Out<float> out(kW * kH);
    hipTextureObject_t t = texture_of(a, hipFilterModePoint, hipAddressModeClamp, false);
    points<<<1, kW * kH>>>(t, out.d);
    say("points", all(out, [](int i) { return 10 * (i / kW) + i % kW; }));
    say("clamped", ask(t, -3, 1.5f) == 10 && ask(t, 100, 1.5f) == 17 && ask(t, 2.5f, 99) == 32);
    (void)hipDestroyTextureObject(t);
    t = texture_of(a, hipFilterModeLinear, hipAddressModeClamp, false);
    // in the middle between texel centres the weights are halves, at a centre one texel counts
    say("linear filter", ask(t, 3, 2) == 17.5f - 0.f && ask(t, 2.5f, 1.5f) == 12 && ask(t, 2.75f, 1.5f) == 12.25f && ask(t, 0, 0.5f) == 0);
    corners<<<1, 1>>>(t, out.d);
    const std::vector<float> c = out.get();
    say("gather", c[0] == 22 && c[1] == 23 && c[2] == 13 && c[3] == 12);
    t = texture_of(a, hipFilterModePoint, hipAddressModeWrap, true);
    say("wrapped", ask(t, 1 + 2.5f / kW, 0.5f / kH) == 2 && ask(t, -0.5f / kW, 1.5f / kH) == 17);
    t = texture_of(a, hipFilterModePoint, hipAddressModeMirror, true);
    say("mirrored", ask(t, 1 + 2.5f / kW, 0.5f / kH) == 5 && ask(t, -0.5f / kW, 1.5f / kH) == 10);
    t = texture_of(a, hipFilterModePoint, hipAddressModeBorder, false);
    say("border", ask(t, 9, 1) == -1 && ask(t, 7.5f, 1.5f) == 17);

    Out<int> line(8), got(12);
    const int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)hipMemcpy(line.d, numbers, sizeof numbers, hipMemcpyHostToDevice);
    hipResourceDesc r = {};
    r.resType = hipResourceTypeLinear;
    r.res.linear.devPtr = line.d;
    r.res.linear.desc = hipCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = sizeof numbers;
    hipTextureDesc s = {};
    (void)hipCreateTextureObject(&t, &r, &s, nullptr);
    fetch<<<1, 12>>>(t, got.d);
    say("linear memory, zero outside", all(got, [](int i) { return i >= 2 && i < 10 ? i - 1 : 0; }));

    const uchar4 pixel(0, 51, 255, 102);
    const hipChannelFormatDesc bytes = hipCreateChannelDesc<uchar4>();
    hipArray_t one = nullptr;
    (void)hipMallocArray(&one, &bytes, 1, 1);
    (void)hipMemcpyToArray(one, 0, 0, &pixel, 4, hipMemcpyHostToDevice);
    normalized<<<1, 1>>>(texture_of(one, hipFilterModePoint, hipAddressModeClamp, false, hipReadModeNormalizedFloat), out.d);
    const std::vector<float> n = out.get();
    say("bytes as fractions", n[0] == 0 && n[1] == 0.2f && n[2] == 1 && n[3] == 0.4f);

    float box[4][4][4];
    for (int i = 0; i < 64; ++i) (&box[0][0][0])[i] = static_cast<float>(100 * (i / 16) + 10 * (i / 4 % 4) + i % 4);
    hipArray_t cube = nullptr;
    (void)hipMalloc3DArray(&cube, &format, make_hipExtent(4, 4, 4));
    hipMemcpy3DParms p = {};
    p.srcPtr = make_hipPitchedPtr(box, 16, 4, 4);
    p.dstArray = cube;
    p.extent = make_hipExtent(4, 4, 4);
    p.kind = hipMemcpyHostToDevice;
    say("box to array", hipMemcpy3D(&p) == hipSuccess);
    volume<<<1, 1>>>(texture_of(cube, hipFilterModeLinear, hipAddressModeClamp, false), out.d);
    say("three dimensions", out.get()[0] == 111 && out.get()[1] == 161);
    hipPitchedPtr pitched;
    (void)hipMalloc3D(&pitched, make_hipExtent(8, 2, 2));
    (void)hipMemset3D(pitched, 1, make_hipExtent(8, 2, 2));
    hipMemcpy3DParms q = {};
    q.srcArray = cube;
    q.srcPos = make_hipPos(1, 2, 3);
    q.dstPtr = pitched;
    q.extent = make_hipExtent(2, 1, 1);
    (void)hipMemcpy3D(&q);
    float two[2];
    (void)hipMemcpy(two, pitched.ptr, 8, hipMemcpyDeviceToHost);
    say("part of a box", two[0] == 321 && two[1] == 322);
    hipMemcpy3DPeerParms peer = {};
    peer.srcArray = cube;
    peer.srcPos = make_hipPos(2, 3, 1);
    peer.dstPtr = pitched;
    peer.extent = make_hipExtent(2, 1, 1);
    bool between = hipMemcpy3DPeer(&peer) == hipSuccess;
    (void)hipMemcpy(two, pitched.ptr, 8, hipMemcpyDeviceToHost);
    between = between && two[0] == 132 && two[1] == 133;
    peer.srcPos = make_hipPos(0, 1, 2);
    between = between && hipMemcpy3DPeerAsync(&peer, nullptr) == hipSuccess && hipDeviceSynchronize() == hipSuccess;
    (void)hipMemcpy(two, pitched.ptr, 8, hipMemcpyDeviceToHost);
    say("part of a box between devices", between && two[0] == 210 && two[1] == 211);

    hipSurfaceObject_t surface = nullptr;
    hipResourceDesc d = {};
    d.resType = hipResourceTypeArray;
    d.res.array.array = a;
    (void)hipCreateSurfaceObject(&surface, &d);
    Out<int> seen(kW * kH);
    invert<<<1, kW * kH>>>(surface, seen.d);
    float back[kH][kW];
    (void)hipMemcpy2DFromArray(back, sizeof back[0], a, 0, 0, sizeof back[0], kH, hipMemcpyDeviceToHost);
    say("surface", back[3][7] == -37 && back[1][0] == -10 && all(seen, [](int) { return 1; }));

    Out<float> ramp(8), plane(8 * 64), sum(8);
    std::vector<float> h(8);
    for (int i = 0; i < 8; ++i) h[i] = static_cast<float>(i);
    (void)hipMemcpy(ramp.d, h.data(), 32, hipMemcpyHostToDevice);
    (void)hipMemcpy(plane.d + 64, h.data(), 32, hipMemcpyHostToDevice);  // row 1 of rows of 256 bytes
    say("bound references", hipBindTexture(nullptr, bound, ramp.d, 32) == hipSuccess &&
                                hipBindTexture2D(nullptr, bound2, plane.d, 8, 8, 256) == hipSuccess);
    by_reference<<<1, 8>>>(sum.d);
    say("texture references", all(sum, [](int i) { return 2 * i; }));
}
