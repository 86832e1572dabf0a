# SPDX-License-Identifier: MIT
# OpenSSL's libcrypto: 31 files of hand-written assembly. Which of their code runs depends on what the processor is said to be. Only
# these files are built with the compiler under test. All the C around them is built once, with gcc -O2, for all builds. The program
# that runs them is openssl/measure.c, beside the recipes.

fetch()
{
	source_package openssl
}

# What no algorithm of measure.c needs is left out.
without="no-shared no-dso no-tests no-engine no-async no-cms no-cmp no-ct no-ocsp no-ts no-srp no-comp no-aria no-bf no-cast
	no-idea no-seed no-sm2 no-sm3 no-sm4 no-rc2 no-gost no-blake2 no-scrypt no-siphash no-rmd160 no-mdc2 no-md4 no-dgram
	no-srtp no-dtls no-tls no-ssl"

# A tree with libcrypto.a, in $CHORD_CACHE: what is in C is not measured.
around=$CHORD_CACHE/openssl-around

build_around()
{
	[ ! -f "$around/.built" ] || return 0
	copy_source openssl "$around"
	cd "$around"
	CC=gcc CFLAGS=-O2 ./Configure linux-x86_64 $without
	make -j2 build_generated libcrypto.a
	rename_namesake
	touch .built
}

# A local function in C that has the name of one in assembly: the comparison knows them by their names.
rename_namesake()
{
	ar x libcrypto.a libdefault-lib-poly1305_prov.o
	objcopy --redefine-sym poly1305_init=poly1305_init_in_c libdefault-lib-poly1305_prov.o
	ar r libcrypto.a libdefault-lib-poly1305_prov.o
}

# The assembly files and the objects that were made of them.
assembly()
{
	cd "$around"
	find . -name '*.s' | sort | while read -r file; do
		stem=${file%/*}/libcrypto-lib-$(basename "$file" .s)
		[ ! -f "$stem.o" ] || echo "$file $stem.o"
	done
}

build()
{
	(
		flock 9
		build_around
	) 9>"$CHORD_CACHE/.openssl-around" || return 1
	rm -rf "$1"
	mkdir -p "$1"
	cp "$around/libcrypto.a" "$around/test/certs/rootkey.pem" "$1"
	assembly >"$1/files"
	while read -r file object; do
		$2 $5 -Wa,--noexecstack -c -o "$1/$(basename "$object")" "$around/$file" || return 1
		ar r "$1/libcrypto.a" "$1/$(basename "$object")" || return 1
	done <"$1/files"
	$2 $5 $6 -Wno-deprecated-declarations -I"$around/include" -o "$1/measure" "$real/openssl/measure.c" "$1/libcrypto.a" -pthread
	# What is measured, for the comparison with callgrind. What asks the processor who it is gets another answer there.
	cp "$real/openssl/measure.c" "$1"
	$2 $5 -Wno-deprecated-declarations -I"$around/include" -c -o "$1/measure.o" "$real/openssl/measure.c"
	nm "$1"/*.o | awk '$2 ~ /^[tT]$/ { print $3 }' | grep -v '^OPENSSL_ia32_cpuid$' | sort -u >"$1/measure.names"
}

programs()
{
	echo measure
}

# FEATURES ALGORITHM...
runs()
{
	cat <<-'END'
	sse2 SHA1 SHA256 SHA512 MD5 SHA3-256 whirlpool AES-128-CBC AES-256-CTR AES-128-GCM AES-256-XTS CAMELLIA-128-CBC RC4
	sse2 ChaCha20 ChaCha20-Poly1305 poly1305 rsa prime256v1 secp384r1 x25519 sect283k1
	ssse3 SHA1 SHA256 SHA512 AES-128-CBC AES-256-CTR AES-128-GCM ChaCha20 ChaCha20-Poly1305
	aesni SHA256 AES-128-CBC AES-256-CTR AES-128-GCM AES-256-XTS AES-128-CBC-HMAC-SHA1 AES-128-CBC-HMAC-SHA256 sect283k1
	avx SHA1 SHA256 SHA512 AES-256-CTR AES-256-GCM ChaCha20-Poly1305 poly1305 AES-128-CBC-HMAC-SHA1
	avx-only SHA256 AES-128-CBC AES-128-GCM
	avx2 SHA1 SHA256 SHA512 AES-128-CBC AES-256-CTR AES-128-GCM AES-256-GCM AES-256-XTS ChaCha20 ChaCha20-Poly1305 poly1305 rsa
	avx2 prime256v1 AES-128-CBC-HMAC-SHA1 AES-128-CBC-HMAC-SHA256
	avx2-only AES-128-CBC AES-128-GCM
	adx rsa prime256v1 x25519
	END
}

# Where the processor lacks what is asked for, nothing can be run as it.
can()
{
	case $1 in
	ssse3) set -- ssse3 ;;
	aesni) set -- aes pclmulqdq sse4_1 ;;
	avx | avx-only) set -- aes pclmulqdq avx movbe ;;
	avx2 | avx2-only) set -- aes pclmulqdq avx2 bmi1 bmi2 fma movbe ;;
	adx) set -- aes pclmulqdq avx2 bmi1 bmi2 fma movbe adx ;;
	*) set -- ;;
	esac
	for flag in "$@"; do
		grep -qw "$flag" /proc/cpuinfo || return 1
	done
}

commands()
{
	runs | while read -r features algorithms; do
		can "$features" || continue
		for algorithm in $algorithms; do
			echo "./measure $features $algorithm rsa.pem"
		done
	done
}

suite()
{
	cd "$1"
	cp rootkey.pem rsa.pem
	commands | while read -r command; do
		echo "$command"
		$command || echo "status $?"
	done
	./measure sse2 SHA256 | grep -q '^SHA256 32 bytes'
}

# All of what it says.
summary()
{
	grep -E ' bytes [0-9a-f]{16}$|^./measure|^status' "$1"
}

workload()
{
	cp "$1/measure" .
	cp "$1/rootkey.pem" rsa.pem
	commands | sed 's/$/ >output/'
}

bench()
{
	cp "$1/measure" .
	cp "$1/rootkey.pem" rsa.pem
	echo "rsa ./measure avx2 rsa rsa.pem >output"
}
