resource "aws_instance" "web" {
  ami = "x"
  tags = { a = 1 }
  provisioner "x" {
    y = 1
  }
}
locals {
  z = 2
}
