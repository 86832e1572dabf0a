# SPDX-License-Identifier: MIT
# OpenSSL's libcrypto and libssl, and the command that uses them: C and assembly, all by the compiler under test.

fetch()
{
	source_package openssl
}

build()
{
	copy_source openssl "$1"
	cd "$1"
	CC=$2 CFLAGS=$5 LDFLAGS=$6 ./Configure linux-x86_64 no-shared no-dso no-tests no-engine no-async
	make build_generated
	make apps/openssl
}

programs()
{
	echo apps/openssl
}

# Nothing is taken from the clock or from random numbers but for keys, of which only what fits them is printed.
commands()
{
	cat <<-'END'
	./openssl dgst -sha1 input
	./openssl dgst -sha256 input
	./openssl dgst -sha512 input
	./openssl dgst -sha3-256 input
	./openssl dgst -md5 input
	./openssl dgst -blake2b512 input
	./openssl enc -aes-128-cbc -K 000102030405060708090a0b0c0d0e0f -iv 0f0e0d0c0b0a09080706050403020100 -in input
	./openssl enc -aes-256-ctr -K 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f -iv 00 -in input
	./openssl enc -chacha20 -K 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f -iv 00 -in input
	./openssl enc -camellia-128-cbc -K 000102030405060708090a0b0c0d0e0f -iv 00 -in input
	./openssl enc -base64 -in input
	./openssl prime -checks 20 170141183460469231731687303715884105727
	./openssl pkey -in rootkey.pem -check -noout
	./openssl dgst -sha256 -sign rootkey.pem input
	END
}

filled()
{
	cp "$1/apps/openssl" .
	cp "$1/test/certs/rootkey.pem" .
	corpus openssl "$2" input
}

suite()
{
	rm -rf "$1/suite"
	mkdir "$1/suite"
	cd "$1/suite"
	filled "$1" 1
	commands | while read -r command; do
		echo "$command: $($command | md5sum)"
	done
}

summary()
{
	grep -a '^\./openssl' "$1"
}

workload()
{
	filled "$1" 1
	commands | sed 's/$/ >output/'
}

# The same work each time: speed, which goes by the clock, would hide what measuring costs.
bench()
{
	filled "$1" 64
	key=000102030405060708090a0b0c0d0e0f
	mersenne=7$(printf '%01105d' 0 | tr 0 F)
	echo "openssl-aes for i in 1 2 3 4 5 6; do ./openssl enc -aes-128-cbc -K $key -iv $key -in input -out /dev/null; done"
	echo "openssl-sha256 for i in 1 2 3 4; do ./openssl dgst -sha256 input; done"
	echo "openssl-prime ./openssl prime -checks 4 -hex $mersenne"
}
