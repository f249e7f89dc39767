/** CRC-16 of Modbus over serial line 1.02, 6.2.2. */
import type { Buffer } from 'node:buffer';

const crcTable = Uint16Array.from({ length: 256 }, (_, octet) => {
  let crc = octet;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >> 1 : (crc >> 1) ^ 0xa001;
  return crc;
});

/** CRC-16 of octets, sent low octet first; 0 over octets that end with their own CRC. */
export function crc16(bytes: Buffer, start: number, end: number): number {
  let crc = 0xffff;
  for (let at = start; at < end; at++) crc = (crc >> 8) ^ (crcTable[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return crc;
}
