/** Certificates and keys in requests. */
import { maxPemLength } from '../../contract/certificates.ts';
import { z } from '../description/zod.ts';

/** For the forms of the dashboard; a keyword of JSON Schema that the types of the library do not know. */
const ofPem: object = { contentMediaType: 'application/x-pem-file' };

/** A member whose text is PEM. @param description without the form */
export const pem = (description: string) =>
  z
    .string()
    .min(1)
    .max(maxPemLength)
    .openapi({
      description: `${description}, as PEM text of at most ${maxPemLength} characters; never a path.`,
      ...ofPem,
    });
