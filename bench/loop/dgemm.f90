! SPDX-License-Identifier: MIT
! A matrix product as the reference BLAS has it, and a dot product: loops.c calls them.
subroutine product(n, a, b, c)
  integer, intent(in) :: n
  double precision, intent(in) :: a(n, n), b(n, n)
  double precision, intent(inout) :: c(n, n)
  integer :: i, j, l
  double precision :: t
  do j = 1, n
    do l = 1, n
      t = b(l, j)
      do i = 1, n
        c(i, j) = c(i, j) + t * a(i, l)
      end do
    end do
  end do
end subroutine product

double precision function dot(n, x, y)
  integer, intent(in) :: n
  double precision, intent(in) :: x(n), y(n)
  integer :: i
  dot = 0
  do i = 1, n
    dot = dot + x(i) * y(i)
  end do
end function dot
