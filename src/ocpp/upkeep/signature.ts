/** Signature of a firmware, checked while its octets arrive (white paper 1.6 and 2.x, L01 and A00.FR.604: SHA-256). */
import { constants, createVerify } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';

/** A signature, for as many attempts of a download as it takes. */
export interface FirmwareSignature {
  begin(): SignatureCheck;
}

export interface SignatureCheck {
  update(octets: Buffer): void;
  /** once, after the last octets */
  fits(): boolean;
}

/** @param signature base64. RSA in both paddings, since signers use either; ECDSA in DER. */
export function firmwareSignature({ publicKey: key }: X509Certificate, signature: string): FirmwareSignature {
  const octets = Buffer.from(signature, 'base64');
  const paddings = [constants.RSA_PKCS1_PADDING, constants.RSA_PKCS1_PSS_PADDING];
  const forms = key.asymmetricKeyType === 'rsa' ? paddings.map((padding) => ({ key, padding })) : [{ key }];
  return {
    begin() {
      const checks = forms.map((form) => ({ form, verify: createVerify('sha256') }));
      return {
        update(piece) {
          for (const { verify } of checks) verify.update(piece);
        },
        fits: () =>
          checks.some(({ form, verify }) => {
            try {
              return verify.verify(form, octets);
            } catch {
              return false;
            }
          }),
      };
    },
  };
}
