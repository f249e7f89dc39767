/**
 * The limits that were sent to a device, one for each connector and one for the station (0). They are those of the
 * station, not of one version: a version that takes over ends what the one before has left.
 */
import type { EvseProfileLimit } from '../../contract/kinds/evse-commands.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, place, readEach } from '../../core/slot-values.ts';
import type { Slot } from '../../core/store.ts';
import type { Insistence } from '../station/insistence.ts';
import type { StationPort } from '../station/port.ts';
import { openLimit } from './limits.ts';
import type { Limit } from './model.ts';

interface SentLimitsOptions {
  readonly device: Pick<StationPort, 'deviceIndex' | 'command'>;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  /** of the station: tries the end of limits until the device accepts it */
  readonly releases: Pick<Insistence, 'insist' | 'end'>;
  /** places that have had a limit, over a restart; absent: the device has none at the start */
  readonly slot?: Slot;
}

/** Maximum limit that the device accepts, W or A. */
const maxLimit = 1e9;

/** The command that sets a limit. */
function commandOf(limit: Limit): EvseProfileLimit {
  const bounded = (value: number | null | undefined) => (value == null ? null : Math.min(maxLimit, value));
  const signed = (value: number) => Math.max(-maxLimit, Math.min(maxLimit, value));
  const { setpointW, setpointA, dischargeLimitW, dischargeLimitA, numberPhases } = limit;
  return {
    limitW: bounded(limit.limitW),
    limitA: bounded(limit.limitA),
    phases: numberPhases,
    ...(setpointW != null && { setpointW: signed(setpointW) }),
    ...(setpointA != null && { setpointA: signed(setpointA) }),
    ...(dischargeLimitW != null && { dischargeLimitW: Math.min(maxLimit, -dischargeLimitW) }),
    ...(dischargeLimitA != null && { dischargeLimitA: Math.min(maxLimit, -dischargeLimitA) }),
  };
}

/** Codes of temporary refusals. */
const waitingCodes: readonly string[] = ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'];

const openText = JSON.stringify(commandOf(openLimit));

const placeOf = (connectorId: number): string => (connectorId === 0 ? 'of the station' : `of connector ${connectorId}`);

/** Key of the end of a limit. */
const releaseKey = (connectorId: number): string => `charging limit ${placeOf(connectorId)}`;

/** In the place of the text of a limit that an earlier process has sent: the device may have it or not. */
const unknownText = 'unknown';

/** Sends limits that have changed. */
export class SentLimits {
  readonly #options: SentLimitsOptions;
  /** connectors that have had a limit, also in earlier processes */
  readonly #places = new Set<number>();
  /** limits in the device by connector, as text; absent: no limit */
  readonly #sent = new Map<number, string>();
  /** connectors whose limit the device has not accepted yet */
  readonly #waiting = new Set<number>();

  constructor(options: SentLimitsOptions) {
    this.#options = options;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Restores the places whose limits an earlier process has sent; each is sent anew. */
  async load(): Promise<void> {
    const { slot, log } = this.#options;
    if (slot === undefined) return;
    for (const connectorId of await readEach(slot, formOf<number>(place), log)) {
      this.#places.add(connectorId);
      this.#sent.set(connectorId, unknownText);
    }
  }

  /** Notes that the device has lost all limits. */
  forget(): void {
    this.#sent.clear();
  }

  set(connectorId: number, limit: Limit): void {
    const { device, log, releases } = this.#options;
    releases.end(releaseKey(connectorId));
    try {
      this.#send(connectorId, limit);
    } catch (error) {
      if (!this.#waiting.has(connectorId))
        log.warning(`the charging limit ${placeOf(connectorId)} waits: ${errorText(error)}`, device.deviceIndex);
      this.#waiting.add(connectorId);
    }
  }

  /** Ends a limit that nobody holds any more, as soon as the device accepts that. */
  end(connectorId: number): void {
    this.#options.releases.insist(
      releaseKey(connectorId),
      `the charging limit ${placeOf(connectorId)} stays at the device`,
      () => {
        this.#send(connectorId, openLimit);
      },
    );
  }

  /** Ends the attempts of `end`: the limits of another station take their place. */
  yield(): void {
    for (const connectorId of this.#places) this.#options.releases.end(releaseKey(connectorId));
  }

  #notePlace(connectorId: number): void {
    const { slot, log, device } = this.#options;
    if (slot === undefined || this.#places.has(connectorId)) return;
    this.#places.add(connectorId);
    slot.replace([...this.#places]).catch((error: unknown) => {
      log.error(`the store has refused a change: ${errorText(error)}`, device.deviceIndex);
    });
  }

  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL: the device refuses it for a time */
  #send(connectorId: number, limit: Limit): void {
    const { device, log } = this.#options;
    const command = commandOf(limit);
    const text = JSON.stringify(command);
    const where = placeOf(connectorId);
    if ((this.#sent.get(connectorId) ?? openText) !== text) {
      this.#notePlace(connectorId);
      try {
        device.command({ kind: 'evse.profile_limit', connectorId, ...command });
      } catch (error) {
        if (error instanceof SimError && waitingCodes.includes(error.code)) throw error;
        // not tried again: the same command would fail the same way
        log.error(`the charging limit ${where} failed: ${errorText(error)}`, device.deviceIndex);
      }
      this.#sent.set(connectorId, text);
    }
    if (this.#waiting.delete(connectorId))
      log.info(`the charging limit ${where} is in force after its wait`, device.deviceIndex);
  }
}
