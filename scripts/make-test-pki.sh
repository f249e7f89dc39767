#!/bin/sh
# Certificates to try Modbus over TLS with: make-test-pki.sh [DIR [HOST]...]   (default: test-pki)
# HOST: further names or addresses by which clients reach the server, besides localhost.
# Keys are on P-256 and lie about in clear: for tests only. What is in DIR already stays; delete DIR to begin anew.
set -eu
umask 077

dir=${1:-test-pki}
[ $# -eq 0 ] || shift
served='DNS:localhost, IP:127.0.0.1, IP:::1'
for host; do
  case $host in
    *:*) kind=IP ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  served="$served, $kind:$host"
done
role_oid=1.3.6.1.4.1.50316.802.1
command -v openssl >/dev/null || { echo 'make-test-pki.sh: openssl is missing' >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/issued"
: > "$work/index.txt"

cat > "$work/ca.cnf" <<EOF
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
[any]
commonName = supplied
[req]
distinguished_name = name
prompt = no
[name]
CN = unused
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[both_roles]
first = UTF8String:GridServiceSunSpec
second = UTF8String:ReadOnlySunSpec
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = $served
EOF

say() { printf '%-24s %s\n' "$1" "$2"; }
quietly() { "$@" 2> "$work/complaint" || { cat "$work/complaint" >&2; exit 1; }; }
new_key() { quietly openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# authority NAME SUBJECT MEANING
authority() {
  if [ ! -f "$1.pem" ]; then
    new_key "$1.key"
    quietly openssl req -x509 -new -key "$1.key" -sha256 -days 7300 -subj "/CN=$2" -config "$work/ca.cnf" -extensions authority -out "$1.pem"
  fi
  say "$1.pem" "$3"
}

# leaf NAME CA SECTION MEANING [START END]: the extensions stand in a section of ca.cnf
leaf() {
  if [ ! -f "$1.pem" ]; then
    new_key "$1.key"
    quietly openssl req -new -key "$1.key" -subj "/CN=$1" -config "$work/ca.cnf" -out "$work/$1.csr"
    quietly openssl ca -batch -notext -config "$work/ca.cnf" -cert "$2.pem" -keyfile "$2.key" -extensions "$3" \
      -startdate "${5:-20260101000000Z}" -enddate "${6:-20451231000000Z}" -in "$work/$1.csr" -out "$work/$1.pem"
    mv "$work/$1.pem" "$1.pem"
  fi
  say "$1.pem" "$4"
}

# client NAME CA MEANING START END [ROLE EXTENSION LINE]...
client() {
  name=$1 issuer=$2 meaning=$3 start=$4 end=$5
  shift 5
  {
    printf '[%s]\n' "$name"
    printf '%s\n' 'basicConstraints = critical, CA:FALSE' 'keyUsage = critical, digitalSignature' 'extendedKeyUsage = clientAuth' \
      'subjectKeyIdentifier = hash' 'authorityKeyIdentifier = keyid' "$@"
  } >> "$work/ca.cnf"
  leaf "$name" "$issuer" "$name" "$meaning" "$start" "$end"
}

# usable NAME MEANING [ROLE EXTENSION LINE]...
usable() {
  name=$1 meaning=$2
  shift 2
  client "$name" ca "$meaning" '' '' "$@"
}

authority ca 'Test CA' 'root CA of the server and of its clients (--mb_root_cert)'
authority foreign-ca 'Foreign test CA' 'another root CA, which nobody here trusts'
leaf server ca server 'the server; no role (--mb_cert, --mb_key server.key)'
say '' "its names: $(openssl x509 -noout -ext subjectAltName -in server.pem | sed 1d | sed 's/^ *//')"
usable readonly 'client, role ReadOnlySunSpec' "$role_oid = ASN1:UTF8String:ReadOnlySunSpec"
usable gridservice 'client, role GridServiceSunSpec' "$role_oid = ASN1:UTF8String:GridServiceSunSpec"
usable netadmin 'client, role NetworkAdministratorSunSpec' "$role_oid = ASN1:UTF8String:NetworkAdministratorSunSpec"
usable superadmin 'client, role SuperAdministratorSunSpec' "$role_oid = ASN1:UTF8String:SuperAdministratorSunSpec"
usable bad-no-role 'client without a role: finds the models, no more'
usable bad-two-roles 'client with two roles: as without' "$role_oid = ASN1:SEQUENCE:both_roles"
usable bad-unknown-role 'client with a role that SunSpec does not have: as without' "$role_oid = ASN1:UTF8String:Operator"
usable bad-encoding 'client with a role as IA5String: as without' "$role_oid = ASN1:IA5String:GridServiceSunSpec"
client bad-expired ca 'client whose certificate has expired: no session' 20200101000000Z 20210101000000Z "$role_oid = ASN1:UTF8String:GridServiceSunSpec"
client bad-foreign foreign-ca 'client of the other CA: no session' '' '' "$role_oid = ASN1:UTF8String:GridServiceSunSpec"
say '*.key' 'the keys that belong to them'
echo "in $(pwd)"
