/**
 * Looks at what a Modbus TCP peer sends, before the library does: a header that cannot be one would make it wait for
 * octets that never come, with every later answer behind them.
 */
const headerOctets = 6;
const shortestBody = 2;
const longestBody = 254;

export class FrameWatch {
  readonly #violated: (reason: string) => void;
  readonly #header = Buffer.alloc(headerOctets);
  #inHeader = 0;
  #inBody = 0;
  #octets = 0;
  #transactions: number[] = [];

  /** @param violated called once for a header that is none */
  constructor(violated: (reason: string) => void) {
    this.#violated = violated;
  }

  /** Forgets what came before the request that is sent now. */
  begin(): void {
    this.#octets = 0;
    this.#transactions = [];
  }

  /** Whether anything came since `begin`. */
  get heard(): boolean { return this.#octets > 0; }

  /** What came since `begin`, in words; empty when nothing did. */
  get gossip(): string {
    if (!this.heard) return '';
    const answers = this.#transactions.map(String).join(', ');
    if (answers !== '') return `; an answer came with transaction id ${answers}, which is not that of the request`;
    return `; ${this.#octets} octets of an unfinished answer came`;
  }

  take(data: Buffer): void {
    this.#octets += data.length;
    let at = 0;
    while (at < data.length) {
      if (this.#inBody > 0) {
        const taken = Math.min(this.#inBody, data.length - at);
        this.#inBody -= taken;
        at += taken;
        if (this.#inBody === 0) this.#ended();
        continue;
      }
      this.#header[this.#inHeader] = data[at] ?? 0;
      this.#inHeader += 1;
      at += 1;
      if (this.#inHeader === headerOctets && !this.#beginBody()) return;
    }
  }

  #beginBody(): boolean {
    this.#inHeader = 0;
    const protocol = this.#header.readUInt16BE(2);
    const length = this.#header.readUInt16BE(4);
    if (protocol === 0 && length >= shortestBody && length <= longestBody) {
      this.#inBody = length;
      return true;
    }
    this.#violated(protocol === 0
      ? `the answer is not Modbus TCP: its length field says ${length}`
      : `the answer is not Modbus TCP: its protocol id is ${protocol}`);
    return false;
  }

  #ended(): void {
    // one is enough for the message, and nothing may grow
    if (this.#transactions.length === 0) this.#transactions.push(this.#header.readUInt16BE(0));
  }
}
