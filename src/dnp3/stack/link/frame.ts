/** Frames of the data link layer. IEEE 1815 9.2.4 */
import { Buffer } from 'node:buffer';
import { crc16 } from './crc.ts';

export const startOctets = [0x05, 0x64] as const;
/** start, length, control, two addresses, checksum */
export const headerOctets = 10;
/** control and addresses, which the length counts beside the user data */
export const minLength = 5;
export const blockOctets = 16;
/** one transport octet and 249 of a fragment */
export const maxUserOctets = 250;
export const maxFrameOctets = 292;

/** Bits of the control octet. */
export const linkBit = { fromMaster: 0x80, primary: 0x40, frameCount: 0x20, frameCountValid: 0x10 } as const;

/** Functions of frames that begin a transaction (PRM = 1). */
export const primaryFunction = {
  resetLink: 0,
  testLink: 2,
  confirmedUserData: 3,
  unconfirmedUserData: 4,
  requestLinkStatus: 9,
} as const;
/** Functions of frames that end one (PRM = 0). */
export const secondaryFunction = { ack: 0, nack: 1, linkStatus: 11, notSupported: 15 } as const;

/** Addresses of their own meaning; from `firstReserved` on none is that of a station. */
export const linkAddress = {
  firstReserved: 0xfff0,
  self: 0xfffc,
  broadcastNoConfirm: 0xfffd,
  broadcastConfirm: 0xfffe,
  broadcastConfirmOptional: 0xffff,
} as const;

export interface LinkFrame {
  readonly control: number;
  readonly destination: number;
  readonly source: number;
  /** without checksums */
  readonly data: Buffer;
}

/** Octets on the wire of so much user data. */
export function frameLength(userOctets: number): number {
  return headerOctets + userOctets + 2 * Math.ceil(userOctets / blockOctets);
}

/**
 * Writes one frame.
 * @param data at most `maxUserOctets`, from `begin` to before `end`
 * @param lead an octet before the data: that of the transport function
 */
export function encodeFrame(
  { control, destination, source }: Omit<LinkFrame, 'data'>,
  data?: Uint8Array,
  begin = 0,
  end = data?.length ?? 0,
  lead?: number,
): Buffer {
  const leading = lead === undefined ? 0 : 1;
  const user = leading + end - begin;
  const frame = Buffer.allocUnsafe(frameLength(user));
  frame[0] = startOctets[0];
  frame[1] = startOctets[1];
  frame[2] = minLength + user;
  frame[3] = control;
  frame.writeUInt16LE(destination, 4);
  frame.writeUInt16LE(source, 6);
  frame.writeUInt16LE(crc16(frame, 0, 8), 8);
  let at = headerOctets;
  let from = begin;
  for (let left = user; left > 0; left -= blockOctets) {
    const blockBegin = at;
    const blockEnd = at + Math.min(blockOctets, left);
    if (lead !== undefined && at === headerOctets) frame[at++] = lead;
    // one octet after the other costs less than a view of the data for each block
    while (at < blockEnd) frame[at++] = data?.[from++] ?? 0;
    const crc = crc16(frame, blockBegin, blockEnd);
    frame[at++] = crc & 0xff;
    frame[at++] = crc >> 8;
  }
  return frame;
}
