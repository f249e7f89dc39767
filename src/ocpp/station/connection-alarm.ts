/** The alarm of a station whose connection is lost. */
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import type { Link } from '../rpc/link.ts';

interface ConnectionAlarmOptions {
  readonly id: string;
  readonly deviceIndex: number;
  readonly commAlarms: CommAlarmSwitch;
  readonly link: Pick<Link, 'drops' | 'connects' | 'isWanted' | 'isTrial'>;
}

/** Raises `ocpp_connection_lost` where neither the station nor its user has ended the connection. */
export class ConnectionAlarm {
  readonly #options: ConnectionAlarmOptions;
  /** drops of the connection, as far as they are alarmed */
  #drops = 0;

  constructor(options: ConnectionAlarmOptions) {
    this.#options = options;
  }

  /** A connection has ended; an end that the station has brought about itself, such as a reset, is no alarm. */
  closed(reason: string): void {
    const { drops } = this.#options.link;
    if (drops > this.#drops) this.#raise(reason === '' ? 'the connection has ended' : reason);
    this.#drops = drops;
  }

  /** An attempt has failed; while new credentials are on trial that is no alarm, since the former ones are tried again. */
  failed(reason: string): void {
    const { isWanted, connects, isTrial } = this.#options.link;
    if (isWanted && connects > 0 && !isTrial) this.#raise(reason);
  }

  /** Ends the alarm, if there is one: the station is connected, or need not be. */
  end(): void {
    const { commAlarms, deviceIndex } = this.#options;
    commAlarms.end(deviceIndex, 'ocpp_connection_lost');
  }

  #raise(reason: string): void {
    const { commAlarms, deviceIndex, id } = this.#options;
    commAlarms.raise(deviceIndex, 'ocpp_connection_lost', `${id}: ${reason}`);
  }
}
