/** CRC-16/DNP: polynomial 0x3D65 reflected, inverted at the end. IEEE 1815 9.2.4.1.6 */
const table = Uint16Array.from({ length: 256 }, (_, octet) => {
  let crc = octet;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa6bc : crc >>> 1;
  return crc;
});

/** The checksum of octets from `begin` to before `end`; it is sent low octet first. */
export function crc16(octets: Uint8Array, begin: number, end: number): number {
  let crc = 0;
  for (let at = begin; at < end; at++) crc = (table[(crc ^ (octets[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc & 0xffff;
}
