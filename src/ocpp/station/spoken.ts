/**
 * The version at work at a station, and its change when the central system chooses another of those that are offered. A
 * version begins as after a start of the process: with what it has kept in the store, and with a BootNotification.
 */
import type { OcppSubprotocol, OcppVersion } from '../../contract/ocpp.ts';
import { ocppVersions } from '../../contract/ocpp-settings.ts';
import { SimError } from '../../core/errors.ts';
import { noAnswer } from '../rpc/model.ts';
import type { CallHandler, LineClosed, LineOpened } from '../rpc/model.ts';
import type { Version, VersionStack } from './stack.ts';

/** The versions that stations can speak. */
export type VersionTable = Readonly<Record<OcppVersion, Version>>;

interface SpokenOptions {
  readonly table: VersionTable;
  /** at work until the central system has chosen one */
  readonly first: OcppVersion;
  readonly make: (version: Version) => VersionStack;
  /** One version has given way, and the other is made next. */
  readonly changing: (from: OcppVersion, to: OcppVersion) => void;
  /** The state of a version could not be restored: it does not work on this connection. */
  readonly failed: (version: OcppVersion, error: unknown) => void;
}

export class SpokenVersion {
  readonly #options: SpokenOptions;
  #version: OcppVersion;
  #stack: VersionStack;
  /** its state is restored, and it has not been stopped */
  #isAtWork = false;
  /** the present connection; null: none, or its version has failed */
  #line: LineOpened | null = null;
  /** the version knows of the present connection */
  #isOpened = false;
  /** a change under way; null: none */
  #change: Promise<void> | null = null;

  constructor(options: SpokenOptions) {
    this.#options = options;
    this.#version = options.first;
    this.#stack = options.make(options.table[options.first]);
  }

  get version(): OcppVersion {
    return this.#version;
  }

  get stack(): VersionStack {
    return this.#stack;
  }

  /** Before the first connection. @throws what `VersionStack.load` throws */
  async load(): Promise<void> {
    await this.#stack.load();
    this.#isAtWork = true;
  }

  /** Calls that come during a change wait for its end. */
  readonly handle: CallHandler = (...call) => {
    if (this.#change === null) return this.#stack.handle(...call);
    const line = this.#line;
    return this.#change.then(() => (line === this.#line ? this.#stack.handle(...call) : noAnswer));
  };

  opened(event: LineOpened): void {
    this.#line = event;
    if (this.#change !== null) return;
    if (this.#speaks(event)) this.#open(event);
    else this.#change = this.#follow();
  }

  closed(event: LineClosed): void {
    this.#line = null;
    if (!this.#isOpened) return;
    this.#isOpened = false;
    this.#stack.closed(event);
  }

  /** @see VersionStack.leave */
  async leave(): Promise<void> {
    // in the same turn where no change is under way
    if (this.#change !== null) await this.#change;
    await this.#stack.leave();
  }

  /** @see VersionStack.stop */
  async stop(): Promise<void> {
    this.#line = null;
    if (this.#change !== null) await this.#change;
    this.#stack.stop();
  }

  #speaks({ subprotocol }: LineOpened): boolean {
    return this.#isAtWork && this.#options.table[this.#version].subprotocol === subprotocol;
  }

  #open(event: LineOpened): void {
    this.#isOpened = true;
    this.#stack.opened(event);
  }

  /** Changes until the version of the present connection is at work; another connection may come during a change. */
  async #follow(): Promise<void> {
    try {
      while (this.#line !== null && !this.#speaks(this.#line)) await this.#changeTo(this.#line.subprotocol);
      if (this.#line !== null) this.#open(this.#line);
    } catch (error) {
      this.#stack.stop();
      // the next connection makes its version anew
      this.#isAtWork = false;
      this.#line = null;
      this.#options.failed(this.#version, error);
    } finally {
      this.#change = null;
    }
  }

  async #changeTo(subprotocol: OcppSubprotocol): Promise<void> {
    const { table, make, changing } = this.#options;
    const version = ocppVersions.find((each) => table[each].subprotocol === subprotocol);
    if (version === undefined) throw new SimError('INTERNAL', `no version speaks ${subprotocol}`);
    // one that could not be restored has been stopped
    if (this.#isAtWork) this.#stack.giveWay();
    this.#isAtWork = false;
    changing(this.#version, version);
    this.#version = version;
    this.#stack = make(table[version]);
    await this.#stack.load();
    this.#isAtWork = true;
  }
}
