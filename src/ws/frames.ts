/** WebSocket frames of the snapshots of one tick, shared by all clients. */
import { firstPosition, positionOf } from '../contract/snapshot.ts';
import { inParts } from '../core/turns.ts';
import { FleetText } from './fleet.ts';
import type { ColumnSource, StreamTick } from './source.ts';

const finAndText = 0x81;

/** `payload` as one unmasked, final text frame (RFC 6455 5.2), ready for the socket. */
export function textFrame(payload: Buffer): Buffer {
  const { length } = payload;
  const header = length < 126 ? 2 : length < 0x10000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = finAndText;
  if (header === 2) frame[1] = length;
  if (header === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  }
  if (header === 10) {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  payload.copy(frame, header);
  return frame;
}

/** Consecutive frames, and their concatenation for a single write. */
export interface Piece {
  readonly frames: readonly Buffer[];
  readonly joined: Buffer;
}

/** Maximum length of a piece, unless a single frame is longer. */
export const maxPieceBytes = 64 * 1024;

/** The messages of a tick. Texts and frames are built for the first client that needs them. */
export class Broadcast {
  readonly event: StreamTick;
  readonly #columnSource: ColumnSource | null;
  readonly #frames: (Buffer | undefined)[] = [];
  #pieces: readonly Piece[] | null = null;
  #fleetText: FleetText | null = null;
  #fleet: Buffer | null = null;

  /** @param columnSource the plant of the tick; null: there is no message of all devices */
  constructor(event: StreamTick, columnSource: ColumnSource | null) {
    this.event = event;
    this.#columnSource = columnSource;
  }

  /** Builds the frames of all devices in parts; one that cannot be built leaves the others. */
  framesInParts(): Generator<undefined, void> {
    return inParts(this.event.published, (_published, position) => {
      try {
        this.#frame(position);
      } catch {
        // the delivery to each client reports a snapshot without text
      }
    });
  }

  #frame(position: number): Buffer | undefined {
    const published = this.event.published[position];
    if (!published) return undefined;
    return (this.#frames[position] ??= textFrame(published.json));
  }

  /** The frame of one device. undefined: not part of the tick. */
  of(deviceIndex: number): Buffer | undefined {
    return this.#frame(positionOf(this.event.published, deviceIndex));
  }

  /** The frame of all devices in columns. */
  get fleet(): Buffer {
    return (this.#fleet ??= textFrame(this.#columns.plain));
  }

  /** The first such frame of a client, which also names the codes. */
  get firstFleet(): Buffer {
    return textFrame(this.#columns.withCodes);
  }

  /** @throws Error without a source of columns, for which the handshake refuses the form */
  get #columns(): FleetText {
    if (this.#columnSource === null) throw new Error('the stream has no columns');
    return (this.#fleetText ??= new FleetText(this.event, this.#columnSource));
  }

  /** The frames of all devices in order of index. */
  get pieces(): readonly Piece[] {
    this.#pieces ??= this.#join(0, this.event.published.length);
    return this.#pieces;
  }

  /** The frames of the devices of a range, in order of index. */
  piecesOf({ first, last }: { readonly first: number; readonly last: number }): readonly Piece[] {
    const { published } = this.event;
    return this.#join(firstPosition(published, first), firstPosition(published, last + 1));
  }

  #join(from: number, to: number): readonly Piece[] {
    const pieces: Piece[] = [];
    let frames: Buffer[] = [];
    let bytes = 0;
    const endPiece = () => {
      const [only] = frames;
      if (only) pieces.push({ frames, joined: frames.length === 1 ? only : Buffer.concat(frames, bytes) });
    };
    for (let position = from; position < to; position += 1) {
      const frame = this.#frame(position);
      if (!frame) continue;
      if (bytes + frame.length > maxPieceBytes) {
        endPiece();
        [frames, bytes] = [[], 0];
      }
      frames.push(frame);
      bytes += frame.length;
    }
    endPiece();
    return pieces;
  }
}
