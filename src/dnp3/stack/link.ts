/** The data link layer: frames (encoding, checksums, parsing from a stream of octets), and sessions. IEEE 1815 9.2 */
import { Buffer } from 'node:buffer';

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

const startOctets = [0x05, 0x64] as const;
/** start, length, control, two addresses, checksum */
const headerOctets = 10;
/** control and addresses, which the length counts beside the user data */
const minLength = 5;
const blockOctets = 16;
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

/** Special addresses; no station has an address from `firstReserved` on. */
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

/** Octets on the wire of a frame with this number of octets of user data. */
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
  const leadOctets = lead === undefined ? 0 : 1;
  const userOctets = leadOctets + end - begin;
  const frame = Buffer.allocUnsafe(frameLength(userOctets));
  frame[0] = startOctets[0];
  frame[1] = startOctets[1];
  frame[2] = minLength + userOctets;
  frame[3] = control;
  frame.writeUInt16LE(destination, 4);
  frame.writeUInt16LE(source, 6);
  frame.writeUInt16LE(crc16(frame, 0, 8), 8);
  let at = headerOctets;
  let from = begin;
  for (let left = userOctets; left > 0; left -= blockOctets) {
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

/** Frames dropped since the start, by reason. */
interface ParserCounts {
  headerCrc: number;
  blockCrc: number;
  /** length below 5, or user data that the function does not have */
  length: number;
}

const noOctets = Buffer.alloc(0);

/** True if a function and the amount of user data agree. */
function isConsistent(control: number, userOctets: number): boolean {
  if ((control & linkBit.primary) === 0) return userOctets === 0;
  const code = control & 0x0f;
  const carries = code === primaryFunction.confirmedUserData || code === primaryFunction.unconfirmedUserData;
  return carries ? userOctets > 0 : userOctets === 0;
}

/**
 * Finds frames in a stream of octets. IEEE 1815 9.2.4.3, 9.2.4.4
 * Keeps the octets of a frame that has not come whole, at most 291 of them. A frame with a wrong checksum is dropped
 * silently, and the search continues after its start octets, because its length cannot be trusted.
 */
export class LinkParser {
  readonly counts: ParserCounts = { headerCrc: 0, blockCrc: 0, length: 0 };
  #held: Buffer = noOctets;

  /** octets of a frame that has not come whole */
  get heldOctets(): number {
    return this.#held.length;
  }

  /** The whole frames up to the end of `octets`; their data are copies. */
  push(octets: Buffer): readonly LinkFrame[] {
    const stream = this.#held.length === 0 ? octets : Buffer.concat([this.#held, octets]);
    const frames: LinkFrame[] = [];
    let at = 0;
    for (;;) {
      at = nextStart(stream, at);
      if (stream.length - at < headerOctets) break;
      const length = this.#lengthAt(stream, at);
      if (length === null) {
        at += startOctets.length;
        continue;
      }
      if (stream.length - at < length) break;
      const frame = this.#frameAt(stream, at, length);
      if (frame === null) {
        at += startOctets.length;
        continue;
      }
      frames.push(frame);
      at += length;
    }
    this.#held = at === stream.length ? noOctets : Buffer.from(stream.subarray(at));
    return frames;
  }

  /** Octets of the frame whose header starts at `at`; null: not a valid header. */
  #lengthAt(stream: Buffer, at: number): number | null {
    if (crc16(stream, at, at + 8) !== stream.readUInt16LE(at + 8)) {
      this.counts.headerCrc += 1;
      return null;
    }
    const userOctets = (stream[at + 2] ?? 0) - minLength;
    if (userOctets < 0 || !isConsistent(stream[at + 3] ?? 0, userOctets)) {
      this.counts.length += 1;
      return null;
    }
    return frameLength(userOctets);
  }

  #frameAt(stream: Buffer, at: number, length: number): LinkFrame | null {
    const userOctets = (stream[at + 2] ?? 0) - minLength;
    const data = userOctets === 0 ? noOctets : Buffer.allocUnsafe(userOctets);
    let from = at + headerOctets;
    for (let done = 0; done < userOctets; done += blockOctets) {
      const size = Math.min(blockOctets, userOctets - done);
      if (crc16(stream, from, from + size) !== stream.readUInt16LE(from + size)) {
        this.counts.blockCrc += 1;
        return null;
      }
      stream.copy(data, done, from, from + size);
      from += size + 2;
    }
    if (from !== at + length) return null;
    return {
      control: stream[at + 3] ?? 0,
      destination: stream.readUInt16LE(at + 4),
      source: stream.readUInt16LE(at + 6),
      data,
    };
  }
}

/** Offset of the next start octets, or the end of the stream; a first start octet as its last octet counts. */
function nextStart(stream: Buffer, from: number): number {
  for (let at = stream.indexOf(startOctets[0], from); at >= 0; at = stream.indexOf(startOctets[0], at + 1)) {
    if (at + 1 === stream.length || stream[at + 1] === startOctets[1]) return at;
  }
  return stream.length;
}

/** True if an address can be that of a station. */
export function isStationAddress(address: number): boolean {
  return address < linkAddress.firstReserved;
}

/** True if a frame is addressed to all outstations. */
export function isBroadcast(destination: number): boolean {
  return destination >= linkAddress.broadcastNoConfirm;
}

/** True if a frame carries a segment of the transport function. */
export function carriesUserData({ control }: LinkFrame): boolean {
  const code = control & 0x0f;
  return (
    beginsTransaction(control) &&
    (code === primaryFunction.confirmedUserData || code === primaryFunction.unconfirmedUserData)
  );
}

/** The FCV bit that each function of a primary station requires; reserved functions are absent. */
const requiredFcv: Readonly<Record<number, boolean>> = {
  [primaryFunction.resetLink]: false,
  [primaryFunction.testLink]: true,
  [primaryFunction.confirmedUserData]: true,
  [primaryFunction.unconfirmedUserData]: false,
  [primaryFunction.requestLinkStatus]: false,
};

/** True if a control octet is from a primary station, with the FCV bit of its function. With FCV 0, FCB has no meaning. */
export function beginsTransaction(control: number): boolean {
  return (
    (control & linkBit.primary) !== 0 && requiredFcv[control & 0x0f] !== ((control & linkBit.frameCountValid) === 0)
  );
}

interface LinkSessionOptions {
  readonly outstation: number;
  readonly master: number;
  readonly send: (frame: Buffer) => void;
}

/**
 * The secondary station for one pair of addresses on one connection: answers link functions and hands user data over. IEEE
 * 1815 9.2.6
 */
export class LinkSession {
  readonly #options: LinkSessionOptions;
  /** the frame count bit expected next; null: the link has not been reset */
  #expected: boolean | null = null;
  #lastAnswer: number = secondaryFunction.ack;

  constructor(options: LinkSessionOptions) {
    this.#options = options;
  }

  /**
   * Takes a frame with DIR = 1 from this master to this outstation.
   * @returns the segment to be delivered; null: none
   */
  take({ control, data }: LinkFrame): Buffer | null {
    if (!beginsTransaction(control)) return null;
    switch (control & 0x0f) {
      case primaryFunction.resetLink:
        this.#expected = true;
        this.#answer(secondaryFunction.ack);
        return null;
      case primaryFunction.testLink:
        this.#answerCounted(control);
        return null;
      case primaryFunction.confirmedUserData:
        return this.#answerCounted(control) ? data : null;
      case primaryFunction.unconfirmedUserData:
        return data;
      case primaryFunction.requestLinkStatus:
        this.#send(secondaryFunction.linkStatus);
        return null;
      default:
        this.#send(secondaryFunction.notSupported);
        return null;
    }
  }

  /** Asks the master whether it is still there; its answer is any frame. */
  requestStatus(): void {
    this.#send(linkBit.primary | primaryFunction.requestLinkStatus);
  }

  /** Answers a frame with FCV 1. @returns true: it is no repetition */
  #answerCounted(control: number): boolean {
    if (this.#expected === null) return false;
    const isNew = ((control & linkBit.frameCount) !== 0) === this.#expected;
    if (isNew) {
      this.#expected = !this.#expected;
      this.#answer(secondaryFunction.ack);
    } else this.#send(this.#lastAnswer);
    return isNew;
  }

  #answer(code: number): void {
    this.#lastAnswer = code;
    this.#send(code);
  }

  #send(control: number): void {
    const { outstation, master, send } = this.#options;
    send(encodeFrame({ control, destination: master, source: outstation }));
  }
}
