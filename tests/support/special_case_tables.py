"""Special cases of the elementwise functions of the array API standard 2025.12, one a line.

An operand is a number or the name of a set of numbers; a line holds for each of the set. A result is a number or the
name of one, by the operands; ``~`` in front leaves its sign open.
"""

__all__ = ["COMPLEX", "PAIRS", "REAL"]

# operand, result
REAL = """
abs                                  nan        nan
abs                                  finite     |x1|
abs                                  infinite   inf
acos,asin,atanh                      nan        nan
acos,asin                            |x|>1      nan
acos                                 1          0
acosh                                nan        nan
acosh                                <1         nan
acosh                                1          0
acosh                                inf        inf
asin,asinh,atan,atanh                zero       x1
asinh,sinh                           nan        nan
asinh,sinh                           infinite   x1
atan                                 nan        nan
atan                                 inf        pi/2
atan                                 -inf       -pi/2
atanh                                |x|>1      nan
atanh                                1          inf
atanh                                -1         -inf
ceil,floor,trunc,round               nan        nan
ceil,floor,trunc,round               infinite   x1
ceil,floor,trunc,round               integer    x1
ceil                                 2.5        3
ceil                                 -2.5       -2
ceil                                 -0.5       -0
floor                                2.5        2
floor                                -2.5       -3
floor                                0.5        0
trunc                                2.5        2
trunc                                -2.5       -2
trunc                                0.5        0
round                                2.5        2
round                                -2.5       -2
round                                0.5        0
conj,positive,real                   any        x1
negative                             any        -x1
cos,cosh                             nan        nan
cos,cosh                             zero       1
cos,sin,tan                          infinite   nan
cosh                                 infinite   inf
exp                                  nan        nan
exp                                  zero       1
exp                                  inf        inf
exp                                  -inf       0
expm1                                nan        nan
expm1                                zero       x1
expm1                                inf        inf
expm1                                -inf       -1
isfinite                             finite     1
isfinite                             infinite   0
isfinite                             nan        0
isinf                                infinite   1
isinf                                not_infinite  0
isnan                                number     0
isnan                                nan        1
log,log2,log10                       nan        nan
log,log2,log10                       <0         nan
log,log2,log10                       zero       -inf
log,log2,log10                       1          0
log,log2,log10                       inf        inf
log1p                                nan        nan
log1p                                <-1        nan
log1p                                -1         -inf
log1p                                zero       x1
log1p                                inf        inf
reciprocal                           nan        nan
reciprocal                           0          inf
reciprocal                           -0         -inf
reciprocal                           inf        0
reciprocal                           -inf       -0
reciprocal                           0.5        2
sign                                 <0         -1
sign                                 zero       ~0
sign                                 >0         1
sign                                 nan        nan
signbit                              0          0
signbit                              -0         1
signbit                              >0         0
signbit                              <0         1
sin,tan,tanh,sinh                    zero       x1
sin,tan,tanh                         nan        nan
square                               nan        nan
square                               zero       0
square                               infinite   inf
sqrt                                 nan        nan
sqrt                                 <0         nan
sqrt                                 zero       x1
sqrt                                 inf        inf
tanh                                 inf        1
tanh                                 -inf       -1
"""

# two operands, result
PAIRS = """
add                    nan        any        nan
add                    any        nan        nan
add                    inf        -inf       nan
add                    -inf       inf        nan
add                    inf        inf        inf
add                    -inf       -inf       -inf
add                    infinite   finite     x1
add                    finite     infinite   x2
add                    -0         -0         -0
add                    -0         0          0
add                    0          -0         0
add                    0          0          0
add                    zero       nonzero    x2
add                    nonzero    zero       x1
add                    nonzero    nonzero    x1+x2
subtract               nan        any        nan
subtract               any        nan        nan
subtract               inf        inf        nan
subtract               -inf       -inf       nan
subtract               inf        -inf       inf
subtract               -inf       inf        -inf
subtract               infinite   finite     x1
subtract               finite     infinite   -x2
subtract               -0         0          -0
subtract               -0         -0         0
subtract               0          0          0
subtract               0          -0         0
subtract               zero       nonzero    -x2
subtract               nonzero    zero       x1
multiply               nan        any        nan
multiply               any        nan        nan
multiply               infinite   zero       nan
multiply               zero       infinite   nan
multiply               infinite   infinite   x1*x2
multiply               infinite   nonzero    x1*x2
multiply               nonzero    infinite   x1*x2
multiply               finite     finite     x1*x2
divide,floor_divide,remainder  nan        any        nan
divide,floor_divide,remainder  any        nan        nan
divide,floor_divide,remainder  infinite   infinite   nan
divide,floor_divide,remainder  zero       zero       nan
divide,floor_divide    0          >0         0
divide,floor_divide    -0         >0         -0
divide,floor_divide    0          <0         -0
divide,floor_divide    -0         <0         0
divide,floor_divide    >0         0          inf
divide,floor_divide    >0         -0         -inf
divide,floor_divide    <0         0          -inf
divide,floor_divide    <0         -0         inf
divide,floor_divide    inf        positive   inf
divide,floor_divide    inf        negative   -inf
divide,floor_divide    -inf       positive   -inf
divide,floor_divide    -inf       negative   inf
divide,floor_divide    positive   inf        0
divide,floor_divide    positive   -inf       -0
divide,floor_divide    negative   inf        -0
divide,floor_divide    negative   -inf       0
divide                 nonzero    nonzero    x1/x2
floor_divide           nonzero    nonzero    floor
remainder              zero       >0         0
remainder              zero       <0         -0
remainder              not_zero   zero       nan
remainder              infinite   nonzero    nan
remainder              positive   inf        x1
remainder              positive   -inf       x2
remainder              negative   inf        x2
remainder              negative   -inf       x1
remainder              nonzero    nonzero    x1%x2
pow                    not_1      nan        nan
pow                    any        zero       1
pow                    nan        not_zero   nan
pow                    |x|>1      inf        inf
pow                    |x|>1      -inf       0
pow                    |x|=1      infinite   1
pow                    1          number     1
pow                    |x|<1      inf        0
pow                    |x|<1      -inf       inf
pow                    inf        >0         inf
pow                    inf        <0         0
pow                    -inf       >0,odd     -inf
pow                    -inf       >0,not_odd  inf
pow                    -inf       <0,odd     -0
pow                    -inf       <0,not_odd  0
pow                    0          >0         0
pow                    0          <0         inf
pow                    -0         >0,odd     -0
pow                    -0         >0,not_odd  0
pow                    -0         <0,odd     -inf
pow                    -0         <0,not_odd  inf
pow                    negative   fraction   nan
atan2                  nan        any        nan
atan2                  any        nan        nan
atan2                  >0         zero       pi/2
atan2                  0          >0         0
atan2                  0          0          0
atan2                  0          -0         pi
atan2                  0          <0         pi
atan2                  -0         >0         -0
atan2                  -0         0          -0
atan2                  -0         -0         -pi
atan2                  -0         <0         -pi
atan2                  <0         zero       -pi/2
atan2                  positive   inf        0
atan2                  positive   -inf       pi
atan2                  negative   inf        -0
atan2                  negative   -inf       -pi
atan2                  inf        finite     pi/2
atan2                  -inf       finite     -pi/2
atan2                  inf        inf        pi/4
atan2                  inf        -inf       3pi/4
atan2                  -inf       inf        -pi/4
atan2                  -inf       -inf       -3pi/4
hypot                  infinite   any        inf
hypot                  any        infinite   inf
hypot                  zero       not_infinite  |x2|
hypot                  not_infinite  zero       |x1|
hypot                  not_infinite  nan        nan
hypot                  nan        not_infinite  nan
logaddexp              nan        any        nan
logaddexp              any        nan        nan
logaddexp              inf        number     inf
logaddexp              number     inf        inf
maximum,minimum        nan        any        nan
maximum,minimum        any        nan        nan
maximum                inf        number     inf
maximum                -inf       number     x2
minimum                inf        number     x2
minimum                -inf       number     -inf
maximum,minimum        zero       zero       ~0
copysign               number     <0         -|x1|
copysign               number     -0         -|x1|
copysign               number     0          |x1|
copysign               number     >0         |x1|
nextafter              nan        any        nan
nextafter              any        nan        nan
nextafter              -0         0          0
nextafter              0          -0         -0
nextafter              inf        inf        inf
equal                  nan        any        0
equal                  any        nan        0
equal                  inf        inf        1
equal                  -inf       -inf       1
equal                  zero       zero       1
equal                  inf        -inf       0
equal                  -inf       inf        0
equal                  infinite   finite     0
equal                  finite     infinite   0
not_equal              nan        any        1
not_equal              any        nan        1
not_equal              inf        inf        0
not_equal              -inf       -inf       0
not_equal              zero       zero       0
not_equal              inf        -inf       1
not_equal              -inf       inf        1
not_equal              infinite   finite     1
not_equal              finite     infinite   1
less,less_equal,greater,greater_equal  nan        any        0
less,less_equal,greater,greater_equal  any        nan        0
less,greater           zero       zero       0
less_equal,greater_equal  zero       zero       1
less,less_equal        -inf       finite     1
less,less_equal        finite     inf        1
greater,greater_equal  -inf       finite     0
greater,greater_equal  finite     inf        0
"""

# real and imaginary part of the operand, and of the result; holds of conjugates and, where odd or even, negatives
COMPLEX = """
acos    zero      0         pi/2     -0
acos    zero      nan       pi/2     nan
acos    finite    inf       pi/2     -inf
acos    nonzero   nan       nan      nan
acos    -inf      positive  pi       -inf
acos    inf       positive  0        -inf
acos    -inf      inf       3pi/4    -inf
acos    inf       inf       pi/4     -inf
acos    infinite  nan       nan      ~inf
acos    nan       finite    nan      nan
acos    nan       inf       nan      -inf
acos    nan       nan       nan      nan
acosh   zero      0         0        pi/2
acosh   finite    inf       inf      pi/2
acosh   nonzero   nan       nan      nan
acosh   0         nan       nan      ~pi/2
acosh   -inf      positive  inf      pi
acosh   inf       positive  inf      0
acosh   -inf      inf       inf      3pi/4
acosh   inf       inf       inf      pi/4
acosh   infinite  nan       inf      nan
acosh   nan       finite    nan      nan
acosh   nan       inf       inf      nan
acosh   nan       nan       nan      nan
asinh   0         0         0        0
asinh   positive  inf       inf      pi/2
asinh   finite    nan       nan      nan
asinh   inf       positive  inf      0
asinh   inf       inf       inf      pi/4
asinh   nan       0         nan      0
asinh   nan       nonzero   nan      nan
asinh   nan       inf       ~inf     nan
asinh   nan       nan       nan      nan
atanh   0         0         0        0
atanh   0         nan       0        nan
atanh   1         0         inf      0
atanh   positive  inf       0        pi/2
atanh   nonzero   nan       nan      nan
atanh   inf       positive  0        pi/2
atanh   inf       inf       0        pi/2
atanh   inf       nan       0        nan
atanh   nan       finite    nan      nan
atanh   nan       inf       ~0       pi/2
atanh   nan       nan       nan      nan
cosh    0         0         1        0
cosh    0         inf       nan      ~0
cosh    0         nan       nan      ~0
cosh    nonzero   inf       nan      nan
cosh    nonzero   nan       nan      nan
cosh    inf       0         inf      0
cosh    inf       nonzero   inf*cos  inf*sin
cosh    inf       inf       ~inf     nan
cosh    inf       nan       inf      nan
cosh    nan       zero      nan      ~0
cosh    nan       nonzero   nan      nan
cosh    nan       nan       nan      nan
exp     zero      0         1        0
exp     finite    inf       nan      nan
exp     finite    nan       nan      nan
exp     inf       0         inf      0
exp     -inf      finite    0*cos    0*sin
exp     inf       nonzero   inf*cos  inf*sin
exp     -inf      inf       ~0       ~0
exp     inf       inf       ~inf     nan
exp     -inf      nan       ~0       ~0
exp     inf       nan       ~inf     nan
exp     nan       0         nan      0
exp     nan       not_zero  nan      nan
expm1   zero      0         0        0
expm1   finite    inf       nan      nan
expm1   finite    nan       nan      nan
expm1   inf       0         inf      0
expm1   -inf      finite    -1       0*sin
expm1   inf       nonzero   inf*cos  inf*sin
expm1   -inf      inf       -1       ~0
expm1   inf       inf       ~inf     nan
expm1   -inf      nan       -1       ~0
expm1   inf       nan       ~inf     nan
expm1   nan       0         nan      0
expm1   nan       not_zero  nan      nan
log     -0        0         -inf     pi
log     0         0         -inf     0
log     finite    inf       inf      pi/2
log     finite    nan       nan      nan
log     -inf      positive  inf      pi
log     inf       positive  inf      0
log     -inf      inf       inf      3pi/4
log     inf       inf       inf      pi/4
log     infinite  nan       inf      nan
log     nan       finite    nan      nan
log     nan       inf       inf      nan
log     nan       nan       nan      nan
log1p   -1        0         -inf     0
log1p   finite    inf       inf      pi/2
log1p   finite    nan       nan      nan
log1p   -inf      positive  inf      pi
log1p   inf       positive  inf      0
log1p   -inf      inf       inf      3pi/4
log1p   inf       inf       inf      pi/4
log1p   infinite  nan       inf      nan
log1p   nan       finite    nan      nan
log1p   nan       inf       inf      nan
log1p   nan       nan       nan      nan
sinh    0         0         0        0
sinh    0         inf       ~0       nan
sinh    0         nan       ~0       nan
sinh    positive  inf       nan      nan
sinh    positive  nan       nan      nan
sinh    inf       0         inf      0
sinh    inf       positive  inf*cos  inf*sin
sinh    inf       inf       ~inf     nan
sinh    inf       nan       ~inf     nan
sinh    nan       0         nan      0
sinh    nan       nonzero   nan      nan
sinh    nan       nan       nan      nan
sqrt    zero      0         0        0
sqrt    any       inf       inf      inf
sqrt    finite    nan       nan      nan
sqrt    -inf      positive  0        inf
sqrt    inf       positive  inf      0
sqrt    -inf      nan       nan      ~inf
sqrt    inf       nan       inf      nan
sqrt    nan       finite    nan      nan
sqrt    nan       nan       nan      nan
tanh    0         0         0        0
tanh    nonzero   inf       nan      nan
tanh    0         inf       0        nan
tanh    nonzero   nan       nan      nan
tanh    0         nan       0        nan
tanh    inf       positive  1        0
tanh    inf       inf       1        ~0
tanh    inf       nan       1        ~0
tanh    nan       0         nan      0
tanh    nan       not_zero  nan      nan
abs     infinite  any       inf      0
abs     any       infinite  inf      0
abs     zero      not_infinite  |x2|     0
abs     not_infinite  zero      |x1|     0
abs     nan       finite    nan      0
abs     finite    nan       nan      0
abs     nan       nan       nan      0
sign    zero      zero      ~0       ~0
sign    nan       any       nan      nan
sign    any       nan       nan      nan
sign    zero      positive  ~0       1
sign    positive  zero      1        x2
sign    negative  zero      -1       x2
isfinite  nan       any       0        0
isfinite  any       nan       0        0
isfinite  infinite  any       0        0
isfinite  any       infinite  0        0
isfinite  finite    finite    1        0
isinf   infinite  any       1        0
isinf   any       infinite  1        0
isinf   not_infinite  not_infinite  0        0
isnan   nan       any       1        0
isnan   any       nan       1        0
isnan   number    number    0        0
round   any       any       round1   round2
conj    any       any       x1       -x2
negative  any       any       -x1      -x2
positive  any       any       x1       x2
real    any       any       x1       0
imag    any       any       x2       0
square  nan       nan       nan      nan
reciprocal  nan       nan       nan      nan
"""
