#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct point {
    int x;
};
typedef struct { int y; } named;
static int *add(int a, int b)
{
    return a + b; /* note */
}
int main(void) { return 0; }
enum e { A };
union u { int a; };
