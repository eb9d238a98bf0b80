# What the loops of oscope are made of, for llvm-mca; the order is that of table.py.
add %rsi, %r8
imul %rsi, %r8
div %r8
vaddsd %xmm1, %xmm0, %xmm0
vmulsd %xmm1, %xmm0, %xmm0
vdivsd %xmm0, %xmm1, %xmm0
vfmadd213sd %xmm1, %xmm1, %xmm0
vsqrtsd %xmm0, %xmm0, %xmm0
