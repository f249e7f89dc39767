/** A small master over TCP for tests: it sends octets as given and hands over fragments as they come. */
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { fragmentFrames, linkFrame, readFrames } from './frames.ts';
import type { SeenFrame } from './frames.ts';

/** An application fragment of the outstation. */
export interface SeenFragment {
  readonly fir: boolean;
  readonly fin: boolean;
  readonly con: boolean;
  readonly uns: boolean;
  readonly seq: number;
  /** 129 response, 130 unsolicited */
  readonly functionCode: number;
  /** IIN1 in the low octet, IIN2 in the high one */
  readonly iin: number;
  readonly objects: Buffer;
  readonly octets: Buffer;
}

export interface MasterOptions {
  readonly port: number;
  readonly outstation?: number;
  readonly address?: number;
  /** a connection that is open already, for TLS */
  readonly socket?: Socket;
  /** default 5 s */
  readonly timeoutMs?: number;
}

interface Waiting {
  readonly wants: () => boolean;
  readonly resolve: () => void;
}

export class TestMaster {
  readonly #socket: Socket;
  readonly #outstation: number;
  readonly #address: number;
  readonly #timeoutMs: number;
  #stream: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] = [];
  #seq = 0;
  #transportSeq = 0;
  readonly frames: SeenFrame[] = [];
  readonly fragments: SeenFragment[] = [];
  closed = false;
  #waiting: Waiting[] = [];

  private constructor(socket: Socket, { outstation = 1, address = 4, timeoutMs = 5000 }: MasterOptions) {
    this.#socket = socket;
    this.#outstation = outstation;
    this.#address = address;
    this.#timeoutMs = timeoutMs;
    socket.setNoDelay(true);
    socket.on('data', (octets) => {
      this.#take(octets);
    });
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
    socket.on('error', () => undefined);
  }

  static async connect(options: MasterOptions): Promise<TestMaster> {
    const socket = options.socket ?? connect({ host: '127.0.0.1', port: options.port });
    if (socket.connecting)
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', () => resolve());
        socket.once('error', reject);
      });
    return new TestMaster(socket, options);
  }

  /** Sends octets as they are. */
  sendRaw(octets: Uint8Array): void {
    this.#socket.write(octets);
  }

  sendLink(control: number, data?: Uint8Array): void {
    this.sendRaw(linkFrame(control, this.#outstation, this.#address, data));
  }

  /** @param to default: the outstation; a broadcast address otherwise */
  sendFragment(fragment: Uint8Array, to = this.#outstation): void {
    const frames = fragmentFrames(fragment, to, this.#address, 0xc4, this.#transportSeq);
    this.#transportSeq = (this.#transportSeq + frames.length) & 0x3f;
    for (const frame of frames) this.sendRaw(frame);
  }

  /** Sends a request with the next sequence number. @returns the number */
  send(functionCode: number, objects: Uint8Array = Buffer.alloc(0), seq = this.#seq): number {
    this.#seq = (seq + 1) & 0x0f;
    this.sendFragment(Buffer.concat([Buffer.from([0xc0 | seq, functionCode]), objects]));
    return seq;
  }

  confirm(fragment: Pick<SeenFragment, 'seq' | 'uns'>): void {
    this.sendFragment(Buffer.from([0xc0 | (fragment.uns ? 0x10 : 0) | fragment.seq, 0]));
  }

  /** Sends a request and resolves with its whole answer, every fragment confirmed that asks for it. */
  async request(functionCode: number, objects?: Uint8Array, seq?: number): Promise<readonly SeenFragment[]> {
    let from = this.fragments.length;
    this.send(functionCode, objects, seq);
    const answer: SeenFragment[] = [];
    for (;;) {
      const next = await this.next(({ functionCode: code }) => code === 129, from);
      from = this.fragments.indexOf(next) + 1;
      answer.push(next);
      if (next.con) this.confirm(next);
      if (next.fin) return answer;
    }
  }

  /** `request` for an answer of one fragment. */
  async ask(functionCode: number, objects?: Uint8Array, seq?: number): Promise<SeenFragment> {
    const answer = await this.request(functionCode, objects, seq);
    if (answer.length !== 1) throw new Error(`the answer has ${answer.length} fragments`);
    return answer[0]!;
  }

  /** The next fragment that fits, from number `from` on (default: those still to come). */
  async next(
    fits: (fragment: SeenFragment) => boolean = () => true,
    from = this.fragments.length,
  ): Promise<SeenFragment> {
    const found = () => this.fragments.slice(from).find(fits);
    await this.until(() => found() !== undefined || this.closed, 'a fragment');
    const fragment = found();
    if (fragment === undefined) throw new Error('the outstation has closed the connection');
    return fragment;
  }

  async nextFrame(fits: (frame: SeenFrame) => boolean = () => true, from = this.frames.length): Promise<SeenFrame> {
    const found = () => this.frames.slice(from).find(fits);
    await this.until(() => found() !== undefined || this.closed, 'a frame');
    const frame = found();
    if (frame === undefined) throw new Error('the outstation has closed the connection');
    return frame;
  }

  /** Resolves when the connection has ended. */
  async ended(): Promise<void> {
    await this.until(() => this.closed, 'the end of the connection');
  }

  /** Resolves when the outstation has nothing more to say: it has answered a link status asked for last. */
  async quiet(): Promise<void> {
    const from = this.frames.length;
    this.sendLink(0xc9);
    await this.nextFrame(({ control }) => (control & 0x4f) === 0x0b, from);
  }

  async close(): Promise<void> {
    this.#socket.destroy();
    await this.ended();
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    if (holds()) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ wants: holds, resolve });
      timer = setTimeout(() => {
        reject(new Error(`${what} did not come within ${this.#timeoutMs} ms`));
      }, this.#timeoutMs);
    }).finally(() => clearTimeout(timer));
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ wants }) => wants());
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { resolve } of ready) resolve();
  }

  #take(octets: Buffer): void {
    const { frames, rest } = readFrames(Buffer.concat([this.#stream, octets]));
    this.#stream = rest;
    for (const frame of frames) {
      this.frames.push(frame);
      if ((frame.control & 0x0f) === 4 && (frame.control & 0x40) !== 0) this.#assemble(frame.data);
    }
    this.#wake();
  }

  #assemble(data: Buffer): void {
    const [octet = 0] = data;
    if (octet & 0x40) this.#pieces = [];
    this.#pieces.push(data.subarray(1));
    if ((octet & 0x80) === 0) return;
    const whole = Buffer.concat(this.#pieces);
    const control = whole[0]!;
    this.fragments.push({
      fir: (control & 0x80) !== 0,
      fin: (control & 0x40) !== 0,
      con: (control & 0x20) !== 0,
      uns: (control & 0x10) !== 0,
      seq: control & 0x0f,
      functionCode: whole[1]!,
      iin: whole.readUInt16LE(2),
      objects: whole.subarray(4),
      octets: whole,
    });
  }
}
