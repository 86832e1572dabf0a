-- SPDX-License-Identifier: MIT
with Ada.Text_IO;
procedure Ada_Main is
   Sum : Integer := 0;
   procedure Work (N : Integer) is
      pragma No_Inline (Work);
   begin
      for I in 1 .. 100 loop
         Sum := (Sum + I * N) mod 1000;
      end loop;
   end Work;
begin
   for I in 1 .. 10 loop
      Work (I);
   end loop;
   Ada.Text_IO.Put_Line (Integer'Image (Sum));
end Ada_Main;
