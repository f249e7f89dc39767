/** CRC-16 bit by bit, as the serial line specification describes it: low octet first. */
function crcOf(bytes: Buffer): Buffer {
  let crc = 0xffff;
  for (const octet of bytes) {
    crc ^= octet;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return Buffer.of(crc & 0xff, crc >> 8);
}

/** An RTU frame around a PDU in hex. */
export function rtu(address: number, pdu: string): Buffer {
  const body = Buffer.concat([Buffer.of(address), Buffer.from(pdu, 'hex')]);
  return Buffer.concat([body, crcOf(body)]);
}

const word = (value: number) => value.toString(16).padStart(4, '0');

/** FC3 request. */
export function rtuRead(address: number, register: number, count: number): Buffer {
  return rtu(address, `03${word(register)}${word(count)}`);
}

/** FC6 request, and its answer. */
export function rtuWrite(address: number, register: number, value: number): Buffer {
  return rtu(address, `06${word(register)}${word(value)}`);
}
