#!/bin/sh
# Certificates to try IEEE 2030.5 (CSIP) with: make-csip-pki.sh [DIR [N [HOST]...]]   (default: csip-pki, 1 device)
# N: number of devices. HOST: further names or addresses by which clients reach the server, besides localhost.
# Keys are on P-256 and lie about in clear: for tests only. What is in DIR already stays; delete DIR to begin anew.
set -eu
umask 077

dir=${1:-csip-pki}
count=${2:-1}
[ $# -lt 2 ] && shift $# || shift 2
case $count in
  '' | *[!0-9]*) echo 'make-csip-pki.sh: the number of devices must be a whole number' >&2; exit 2 ;;
esac
served='DNS:localhost, IP:127.0.0.1, IP:::1'
for host; do
  case $host in
    *:*) kind=IP ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  served="$served, $kind:$host"
done
command -v openssl >/dev/null || { echo 'make-csip-pki.sh: openssl is missing' >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/issued"
: > "$work/index.txt"

start=20260101000000Z
# the time that stands for "no end" (RFC 5280 4.1.2.5)
never=99991231235959Z

# Arc 1.3.6.1.4.1.40732.1 has the policies of IEEE 2030.5 6.11.7: generic device. 2.999 is the arc for examples.
cat > "$work/ca.cnf" <<CONF
[ca]
default_ca = tests
[tests]
dir = $work
database = $work/index.txt
new_certs_dir = $work/issued
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
preserve = yes
[any]
commonName = optional
organizationName = optional
[req]
distinguished_name = name
prompt = no
[name]
CN = unused
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[mca]
basicConstraints = critical, CA:TRUE, pathlen:1
keyUsage = critical, keyCertSign, cRLSign
certificatePolicies = critical, 2.5.29.32.0
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[mica]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[mica_usage]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
extendedKeyUsage = critical, codeSigning
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[mica_names]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
nameConstraints = critical, permitted;otherName:1.3.6.1.5.5.7.8.4;UTF8:none
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[mica_mapping]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
policyMappings = critical, 1.3.6.1.4.1.40732.1.1:2.999.2
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature, keyAgreement
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectAltName = $served
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[aggregator]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature, keyAgreement
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
CONF

say() { printf '%-16s %s\n' "$1" "$2"; }
quietly() { "$@" 2> "$work/complaint" || { cat "$work/complaint" >&2; exit 1; }; }
new_key() { quietly openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# device_section NAME SERIAL: extensions of a device certificate with its hardwareModuleName (RFC 4108 5)
device_section() {
  cat >> "$work/ca.cnf" <<CONF
[$1]
keyUsage = critical, digitalSignature, keyAgreement
certificatePolicies = critical, 1.3.6.1.4.1.40732.1.1
subjectAltName = critical, otherName:1.3.6.1.5.5.7.8.4;SEQ:$1_module
authorityKeyIdentifier = keyid
[$1_module]
type = OID:2.999.1
serial = OCTETSTRING:$2
CONF
}

# issued NAME CA SECTION SUBJECT OUT: a certificate alone; CA 'self' signs itself
issued() {
  quietly openssl req -new -key "$1.key" -subj "$4" -config "$work/ca.cnf" -out "$work/$1.csr"
  if [ "$2" = self ]; then signer="-selfsign -keyfile $1.key"; else signer="-cert $2.pem -keyfile $2.key"; fi
  # shellcheck disable=SC2086
  quietly openssl ca -batch -notext -config "$work/ca.cnf" $signer -extensions "$3" \
    -startdate "$start" -enddate "$never" -in "$work/$1.csr" -out "$5"
}

# authority NAME CA SECTION SUBJECT MEANING
authority() {
  if [ ! -f "$1.pem" ]; then
    new_key "$1.key"
    issued "$1" "$2" "$3" "/O=derbench tests/CN=$4" "$work/$1.pem"
    mv "$work/$1.pem" "$1.pem"
  fi
  say "$1.pem" "$5"
}

# chain NAME CA SECTION SUBJECT MEANING [INTERMEDIATE]...: the leaf with the certificates between it and the root
chain() {
  if [ ! -f "$1.pem" ]; then
    new_key "$1.key"
    issued "$1" "$2" "$3" "$4" "$work/$1.pem"
    name=$1 meaning=$5
    shift 5
    for each; do cat "$each.pem" >> "$work/$name.pem"; done
    mv "$work/$name.pem" "$name.pem"
    say "$name.pem" "$meaning"
  else
    say "$1.pem" "$5"
  fi
}

# device NAME CA MEANING [INTERMEDIATE]...: a device certificate, whose subject is empty
device() {
  name=$1 issuer=$2 meaning=$3
  shift 3
  device_section "$name" "$name"
  chain "$name" "$issuer" "$name" / "$meaning" "$@"
}

# bad_mica NAME SECTION SUBJECT: an issuer that IEEE 2030.5 does not permit; it stays outside of DIR
bad_mica() {
  [ ! -f "$1.pem" ] || return 0
  new_key "$work/$2.key"
  (
    cd "$work"
    cp "$OLDPWD/mca.pem" "$OLDPWD/mca.key" .
    issued "$2" mca "$2" "/O=derbench tests/CN=$3" "$work/$2.pem"
  )
}

authority root self root 'Test SERCA' 'SERCA, the root that servers and clients trust (--csip_root_cert)'
authority mca root mca 'Test MCA' 'CA of the maker, below the root'
authority mica mca mica 'Test MICA' 'issuing CA of the maker, below the MCA'
chain server mica server '/O=derbench tests/CN=Test server' 'the server of utility or test bench' mica mca
say '' "its names: $(openssl x509 -noout -ext subjectAltName -in server.pem | sed 1d | sed 's/^ *//')"
chain aggregator mica aggregator '/O=derbench tests/CN=Test aggregator' 'an aggregator (--csip_identity aggregator)' mica mca
index=0
while [ "$index" -lt "$count" ]; do
  device "device$index" mica 'a device: no subject, no end, hardwareModuleName' mica mca
  index=$((index + 1))
done
authority mica3 root mica 'Test MICA below the root' 'issuing CA directly below the root'
device comm_004a root 'device of a chain of 2: root and device'
device comm_004b mica3 'device of a chain of 3: root, MICA, device' mica3
device comm_004c mica 'device of a chain of 4: root, MCA, MICA, device' mica mca
bad_mica comm_004d mica_usage 'Test MICA with extended key usage'
device comm_004d "$work/mica_usage" 'bad: the MICA has an extended key usage' "$work/mica_usage" mca
bad_mica comm_004e mica_names 'Test MICA with name constraints'
device comm_004e "$work/mica_names" 'bad: the MICA has name constraints' "$work/mica_names" mca
bad_mica comm_004f mica_mapping 'Test MICA with policy mappings'
device comm_004f "$work/mica_mapping" 'bad: the MICA has policy mappings (openssl looks at them only with a policy)' "$work/mica_mapping" mca
device comm_004g self 'bad: a device that has signed itself'
say '*.key' 'the keys that belong to them'
echo "in $(pwd)"
