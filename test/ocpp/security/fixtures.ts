/**
 * Certificates made once by OpenSSL 3.0 (`openssl req -x509`, `openssl x509 -req`), and what it says of them
 * (`openssl ocsp -sha256 -issuer root.pem -cert leaf.pem -req_text`, likewise with -sha384 and -sha512). Their keys were
 * thrown away.
 */

/** EC P-256, serial number of 9 octets with a zero before it in DER */
export const rootPem = `-----BEGIN CERTIFICATE-----
MIIBwDCCAWagAwIBAgIJAKGyw9Tl9gcYMAoGCCqGSM49BAMCMDoxCzAJBgNVBAYT
Ak5MMRQwEgYDVQQKDAtFeGFtcGxlIENQTzEVMBMGA1UEAwwMRml4dHVyZSByb290
MCAXDTI2MTEyNTIzMDY0NloYDzIxMjYxMTAxMjMwNjQ2WjA6MQswCQYDVQQGEwJO
TDEUMBIGA1UECgwLRXhhbXBsZSBDUE8xFTATBgNVBAMMDEZpeHR1cmUgcm9vdDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABEw9S6RDDjZvXm1eFqV8LLcAapCE/p2X
mukfyksaKxCzXHMHCtJ554YU4vS2qYmCPTDlb2YXZvljj7AxxRwf96qjUzBRMB0G
A1UdDgQWBBQuMXV4ZLbcAvKjYWCCnQh1+QSCejAfBgNVHSMEGDAWgBQuMXV4ZLbc
AvKjYWCCnQh1+QSCejAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUC
IQDMDDLeXpweyvGht+NXGGMWY5wAlMaN/jBqrEQ9muFJLQIgcTSyW4vXJyeYitSU
Aoy06WQXENzLKX+CPJIqQKaJ19E=
-----END CERTIFICATE-----
`;

/** RSA 2048, issued by the root, serial number 15; version 1, so that the first element of it is the serial number */
export const leafPem = `-----BEGIN CERTIFICATE-----
MIICFTCCAboCAQ8wCgYIKoZIzj0EAwIwOjELMAkGA1UEBhMCTkwxFDASBgNVBAoM
C0V4YW1wbGUgQ1BPMRUwEwYDVQQDDAxGaXh0dXJlIHJvb3QwIBcNMjYxMTI1MjMw
NjQ4WhgPMjEyNjExMDEyMzA2NDhaMCUxFDASBgNVBAoMC0V4YW1wbGUgQ1BPMQ0w
CwYDVQQDDARDUCAxMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAsA2X
3U7foUORq6XlPBzaBlPQdPD/zdOh3V7oxHTd3x+GnzK2X6xj6rwnbjRjlIrjt2tm
aUkGkLMivpn//SlVpN4UeL1BpScIE4dIB7pzX5dV5uf5TvjtTvT/HcfU4XS77G8/
gXUU8FqUPzcjsuu7Xc806FW71iGufPHoWgexQRrUeLF0sDJUSi0uOKkCp+QyNzAV
Fj/vLVyIYBJ6MMi76AXPBKKRGZYXs+WLuc7a6HNoVRl68+ec7bv8M97CTZQYVQ0X
lJ/ZqvZ41QDoaMxHYLAprGvQM6yCLYVy3xO9HwGfCuK21AUOWrq2ADxVJI4CioAk
BesOJ9mRqGNgTUy86QIDAQABMAoGCCqGSM49BAMCA0kAMEYCIQDXRa62g5xwP1t7
7it5WZ2xr31nGzaJCC4x5Y1WyR1NcwIhAJza7zgpS7rJR2JHq1xKlX8sJxGjmkbT
5sGA/9z6AQ9r
-----END CERTIFICATE-----
`;

/** self-signed, of version 1 */
export const version1Pem = `-----BEGIN CERTIFICATE-----
MIICwjCCAaoCAwCA/zANBgkqhkiG9w0BAQsFADAlMRQwEgYDVQQKDAtFeGFtcGxl
IENQTzENMAsGA1UEAwwEQ1AgMTAgFw0yNjExMjUyMzA2NDhaGA8yMTI2MTEwMTIz
MDY0OFowJTEUMBIGA1UECgwLRXhhbXBsZSBDUE8xDTALBgNVBAMMBENQIDEwggEi
MA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCwDZfdTt+hQ5GrpeU8HNoGU9B0
8P/N06HdXujEdN3fH4afMrZfrGPqvCduNGOUiuO3a2ZpSQaQsyK+mf/9KVWk3hR4
vUGlJwgTh0gHunNfl1Xm5/lO+O1O9P8dx9ThdLvsbz+BdRTwWpQ/NyOy67tdzzTo
VbvWIa588ehaB7FBGtR4sXSwMlRKLS44qQKn5DI3MBUWP+8tXIhgEnowyLvoBc8E
opEZlhez5Yu5ztroc2hVGXrz55ztu/wz3sJNlBhVDReUn9mq9njVAOhozEdgsCms
a9AzrIIthXLfE70fAZ8K4rbUBQ5aurYAPFUkjgKKgCQF6w4n2ZGoY2BNTLzpAgMB
AAEwDQYJKoZIhvcNAQELBQADggEBAAsK1mmF3pR1UcIvnGUlG6Xbp1BpwLKXXyPx
132KRB0Bl5MnhmiZ/hiCWQx9e9GwjlOlIf58uy4tDlMAhbFVfRLJ+ECkkUhLpMK+
2DY5WD/yIstUXPZYHfaUu6LF9nH42DM4LsUdKYP1d1WN/8cpNB4gv1jsyHIrfg2U
CxOp89lE/3z4HtgaNvaYRqxWmtY5KeYH7hA1973i0Cs0AZ5kqs7oBQwLO/L3NU38
W4lgVJaORfEAMkkk3gSLVEIAR1KU1weWQiyqtai4J/cSOslFS67CAaR9JR7pBBRb
usb6gnenYYCccGFbYa8u2lGiZ6wTSmTR+9XChCs6hmnFF+fbZxI=
-----END CERTIFICATE-----
`;

/** by OpenSSL; the serial number as OCPP has it, without leading zeros */
export const hashes = {
  leaf: {
    SHA256: {
      issuerNameHash: '44945840f32edb7aabe8199aaec7fcaa6553996567240fbe9aed7d193b34c59b',
      issuerKeyHash: 'c1f38569a0af94a70666327bf9c266029a00d41f560ded370237dac33cfde7d8',
    },
    SHA384: {
      issuerNameHash:
        '9c0e037ef29f83b929d59d3e6c160c391c2146a7a41e0ffe4298b2c07aca843a9c3fca60adc3f3c4737d169ca7fd453c',
      issuerKeyHash: '1182a17994235fa5bc88316de6e5b52b4a1aaf37bc5dca95b94fb5ecc31f2cdac5fcb6cbf4e1d6e6091dbdc243d228bf',
    },
    SHA512: {
      issuerNameHash:
        'e55fe71aa1e29328bbb7da9bfc36cd1680a80f079208ac63a0061a7ab2b7e79a2f76ce49af7e559916c4062c2204d6d86f6783d896c751fb2e6670722b31168c',
      issuerKeyHash:
        '34304caff6e2407eeb80a4b88709fb69f3dc3be05fd50a5d87cf595a645a781a1a358075f06f14f0690f02200458b798be2d3639a82e9db52fc8e28b4e45f266',
    },
  },
  root: {
    issuerNameHash: '44945840f32edb7aabe8199aaec7fcaa6553996567240fbe9aed7d193b34c59b',
    issuerKeyHash: 'c1f38569a0af94a70666327bf9c266029a00d41f560ded370237dac33cfde7d8',
    serialNumber: 'A1B2C3D4E5F60718',
  },
  version1: {
    issuerNameHash: 'f50031a86d22aedb0e9c37ed8623ef7f57356accc7432fde7086f8046b7c34ac',
    issuerKeyHash: '1239ae5629b0aef98815fca015ae7e51749bc0aba66968d95b1cdacc214221c2',
    serialNumber: '80FF',
  },
} as const;
