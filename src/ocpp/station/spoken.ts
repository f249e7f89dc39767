/**
 * The version at work at a station, and its change when the central system chooses another of those that are offered. A
 * version begins as after a start of the process: with what it has kept in the store, and with a BootNotification.
 */
import { z } from 'zod';
import type { OcppFunctions, OcppVersion } from '../../contract/ocpp.ts';
import { ocppVersions } from '../../contract/ocpp-settings.ts';
import type { OcppVersions } from '../../contract/ocpp-settings.ts';
import { SimError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, readOne } from '../../core/slot-values.ts';
import type { Slot } from '../../core/store.ts';
import { noAnswer } from '../rpc/model.ts';
import type { CallHandler, LineClosed, LineOpened } from '../rpc/model.ts';
import type { LeaveReason, Version, VersionStack } from './stack.ts';

/** The versions that stations can speak. */
export type VersionTable = Readonly<Record<OcppVersion, Version>>;

const versionForm = formOf<OcppVersion>(z.enum(ocppVersions));

interface SpokenOptions {
  readonly table: VersionTable;
  /** before the central system has chosen, the version spoken last is at work, or the first of these */
  readonly offered: OcppVersions;
  /** the version spoken last, over a restart */
  readonly slot: Slot;
  readonly log: Pick<Logger, 'warning'>;
  readonly make: (version: Version) => VersionStack;
  /** One version has given way, and another one is made next. */
  readonly changing: () => void;
  /** Another version is at work than before. */
  readonly changed: (from: OcppVersion, to: OcppVersion) => void;
  /** The state of a version could not be restored: it does not work on this connection. */
  readonly failed: (version: OcppVersion, error: unknown) => void;
  /** The store has refused the version spoken last. */
  readonly unsaved: (error: unknown) => void;
}

/**
 * Functions of a version that has given way: what it knows can be read until the next version is restored, and nothing
 * is carried out.
 */
function readOnly(functions: OcppFunctions): OcppFunctions {
  const refusal = (code: ErrorCode) =>
    new SimError(code, 'the station changes to another version of OCPP: try again when it is connected');
  const refuse = (code: ErrorCode) => (): never => {
    throw refusal(code);
  };
  const reject = (code: ErrorCode) => (): Promise<never> => Promise.reject(refusal(code));
  return {
    ...functions,
    boot: reject('NOT_CONNECTED'),
    heartbeat: reject('NOT_CONNECTED'),
    sendMeterValues: refuse('NOT_CONNECTED'),
    authorize: reject('COMMAND_CONFLICT'),
    setConfiguration: refuse('COMMAND_CONFLICT'),
  };
}

export class SpokenVersion {
  readonly #options: SpokenOptions;
  #version: OcppVersion;
  /** null: not made before `load` */
  #stack: VersionStack | null = null;
  /** its state is restored, and it has not been stopped */
  #isAtWork = false;
  /** the present connection; null: none, or its version has failed */
  #line: LineOpened | null = null;
  /** the version knows of the present connection */
  #isOpened = false;
  /** a change under way; null: none */
  #change: Promise<void> | null = null;
  /** events of the connection during a change, for the next version */
  #missed: ((stack: VersionStack) => void)[] = [];

  constructor(options: SpokenOptions) {
    this.#options = options;
    [this.#version] = options.offered;
  }

  get version(): OcppVersion {
    return this.#version;
  }

  /** The version at work; during a change the one that has given way. @throws SimError INTERNAL before `load` */
  get stack(): VersionStack {
    if (this.#stack === null) throw new SimError('INTERNAL', 'no version of OCPP is made yet');
    return this.#stack;
  }

  /** of the version at work; of the one that has given way only what can be read, until the next one is restored */
  get functions(): OcppFunctions {
    const { functions } = this.stack;
    return this.#isAtWork ? functions : readOnly(functions);
  }

  /** Calls of the central system get no answer now; those that come during a change wait for its end. */
  get isMute(): boolean {
    return this.#change === null && this.stack.isMute;
  }

  /** Before the first connection. @throws what `VersionStack.load` throws */
  async load(): Promise<void> {
    const { table, offered, slot, log, make } = this.#options;
    const last = (await readOne(slot, versionForm, log)) ?? undefined;
    this.#version = offered.find((version) => version === last) ?? this.#version;
    if (last !== undefined && last !== this.#version) await this.#replace(last);
    if (last !== this.#version) this.#save();
    this.#stack = make(table[this.#version]);
    try {
      await this.#stack.load();
    } catch (error) {
      this.#stack.stop();
      throw error;
    }
    this.#isAtWork = true;
  }

  /** Ends what a version has left that is not offered any more, as if another one took over. */
  async #replace(version: OcppVersion): Promise<void> {
    const { table, make, changing, failed } = this.#options;
    const stack = make(table[version]);
    try {
      await stack.load();
      stack.giveWay();
    } catch (error) {
      stack.stop();
      failed(version, error);
    }
    changing();
  }

  /** Calls that come during a change wait for its end. */
  readonly handle: CallHandler = (...call) => {
    if (this.#change === null) return this.stack.handle(...call);
    const line = this.#line;
    return this.#change.then(() => (line === this.#line ? this.stack.handle(...call) : noAnswer));
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
    this.stack.closed(event);
  }

  /** Informs the version at work; during a change the next one, once its state is restored. */
  inform(tell: (stack: VersionStack) => void): void {
    if (this.#isAtWork) tell(this.stack);
    else if (this.#change !== null) this.#missed.push(tell);
  }

  /** @see VersionStack.leave */
  async leave(reason: LeaveReason): Promise<void> {
    // in the same turn where no change is under way
    if (this.#change !== null) await this.#change;
    if (this.#isAtWork) await this.stack.leave(reason);
  }

  /** @see VersionStack.stop */
  stop(): Promise<void> {
    return this.#end((stack) => {
      stack.stop();
    });
  }

  /** @see VersionStack.release */
  release(isReplaced: boolean): Promise<void> {
    return this.#end((stack) => {
      stack.release(isReplaced);
    });
  }

  async #end(how: (stack: VersionStack) => void): Promise<void> {
    this.#line = null;
    if (this.#change !== null) await this.#change;
    // one that could not be restored has been stopped
    if (this.#isAtWork) how(this.stack);
  }

  #speaks({ subprotocol }: LineOpened): boolean {
    return this.#isAtWork && this.#options.table[this.#version].subprotocol === subprotocol;
  }

  #open(event: LineOpened): void {
    this.#isOpened = true;
    this.stack.opened(event);
  }

  /** Changes until the version of the present connection is at work; another connection may come during a change. */
  async #follow(): Promise<void> {
    let version = this.#version;
    try {
      while (this.#line !== null && !this.#speaks(this.#line)) {
        version = this.#versionOf(this.#line);
        await this.#changeTo(version);
      }
      if (this.#line !== null) this.#open(this.#line);
    } catch (error) {
      if (this.#isAtWork) this.stack.stop();
      // the next connection makes its version anew
      this.#isAtWork = this.#isOpened = false;
      this.#line = null;
      this.#options.failed(version, error);
    } finally {
      this.#missed = [];
      this.#change = null;
    }
  }

  #versionOf({ subprotocol }: LineOpened): OcppVersion {
    const version = ocppVersions.find((each) => this.#options.table[each].subprotocol === subprotocol);
    if (version === undefined) throw new SimError('INTERNAL', `no version speaks ${subprotocol}`);
    return version;
  }

  async #changeTo(version: OcppVersion): Promise<void> {
    const { table, make, changing, changed } = this.#options;
    // one that could not be restored has been stopped
    if (this.#isAtWork) this.stack.giveWay();
    this.#isAtWork = false;
    changing();
    const stack = make(table[version]);
    try {
      await stack.load();
    } catch (error) {
      stack.stop();
      throw error;
    }
    const from = this.#version;
    [this.#version, this.#stack, this.#isAtWork] = [version, stack, true];
    if (from !== version) {
      changed(from, version);
      this.#save();
    }
    for (const tell of this.#missed.splice(0)) tell(stack);
  }

  #save(): void {
    this.#options.slot.replace([this.#version]).catch(this.#options.unsaved);
  }
}
