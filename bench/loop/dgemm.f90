! SPDX-License-Identifier: MIT
! A matrix product as the reference BLAS has it, and a dot product: `dgemm` or `dgemm dot`.
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

program main
  integer, parameter :: n = 128
  double precision :: a(n, n), b(n, n), c(n, n), s, dot
  character(len=8) :: what
  integer :: k
  a = 1.5d0
  b = 0.5d0
  c = 0
  s = 0
  call get_command_argument(1, what)
  if (what == 'dot') then
    do k = 1, 20000
      s = s + dot(n * n, a, b)
    end do
  else
    do k = 1, 200
      call product(n, a, b, c)
    end do
  end if
  print *, c(3, 4), s
end program main
