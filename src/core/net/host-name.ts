/** Names and addresses that a certificate of a server may bear. */
import { isIP } from 'node:net';

const maxLength = 253;
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const namePattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`);

/** Characters of `isHost`, for descriptions. */
export const hostPattern = /^[A-Za-z0-9*:.-]+$/;
export const hostText = 'a DNS name or an IP address, without a port';

/** True for an IP address, or a DNS name that may begin with `*.` */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return !text.includes('%');
  return text.length <= maxLength && namePattern.test(text) && !/^[\d.]+$/.test(text);
}
