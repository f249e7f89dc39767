/** Digests of octets, so that judges remember long requests in little memory. */
import { createHash } from 'node:crypto';

export const digestOf = (octets: Uint8Array | string): string => createHash('sha256').update(octets).digest('base64');
