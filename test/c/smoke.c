/* smoke.c - the library loads and an operator computes. */
#include "mindspore.h"
#include <stdio.h>

int main(void)
{
    int mark = ms_scope_begin();
    float a[] = {1, 2, 3}, b[] = {10, 20, 30};
    int64_t shape[] = {3};
    MsTensor *y = ms_add(ms_tensor_from(MS_FLOAT32, 1, shape, a), ms_tensor_from(MS_FLOAT32, 1, shape, b));
    int bad = !y || ((float *)ms_tensor_data(y))[2] != 33.0f;
    ms_scope_end(mark, NULL, 0);
    printf("%d passed, %d failed\n", !bad, bad);
    return bad;
}
