# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# CAs, certificates and CRLs, made by openssl. Sourced after link/lib.sh.

# make_ca FILE: makes the CA certificate FILE.pem, and its key FILE.key
make_ca()
{
	(
		cd /tmp || exit
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
			-nodes -keyout "$1.key" -out "$1.pem" -days 2 \
			-subj /CN=ca -addext keyUsage=keyCertSign,cRLSign
	) >/dev/null 2>&1
}

# sign CA NAME DAYS [FIRST]: makes a leaf certificate for the DNS name NAME, preceded by
# FIRST, in /tmp/NAME.pem with its key
sign()
{
	local dir=/tmp/$2 first=${4:+DNS:$4,}

	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout "$dir.key" -out "$dir.csr" -subj "/CN=$2" 2>/dev/null &&
	openssl x509 -req -in "$dir.csr" -CA "$1.pem" -CAkey "$1.key" \
		-days "$3" -out "$dir.crt" -extfile \
		<(echo "subjectAltName=${first}DNS:$2") 2>/dev/null &&
	cat "$dir.crt" "$dir.key" >"$dir.pem" && chmod 600 "$dir.pem"
}

# Copy a file of host 1 to host 2.
give()
{
	on 2 sh -c "umask 077; cat >$1" <"$1"
}

# revoke CA NAME...: makes CA.crl, which revokes these certificates
revoke()
{
	local dir=$1.d name

	rm -rf "$dir"
	mkdir "$dir" && : >"$dir/index" || return
	printf '%s\n' '[ca]' 'default_ca = x' '[x]' "database = $dir/index" \
		'default_md = sha256' 'default_crl_days = 2' >"$dir/conf"
	for name in "${@:2}"; do
		openssl ca -config "$dir/conf" -cert "$1.pem" \
			-keyfile "$1.key" -revoke "/tmp/$name.crt" || return
	done
	openssl ca -config "$dir/conf" -cert "$1.pem" -keyfile "$1.key" \
		-gencrl -out "$1.crl"
}
