/** One version of OCPP at work for one station: `v16` makes one, `v201` will. */
import type { OcppBootStatus, OcppStation } from '../../contract/ocpp.ts';
import type { ConnectFailure } from '../rpc/failures.ts';
import type { CallHandler, LineClosed, LineOpened } from '../rpc/model.ts';

/** What REST asks of a version. */
export type VersionView = Pick<
  OcppStation,
  | 'boot'
  | 'heartbeat'
  | 'configuration'
  | 'setConfiguration'
  | 'chargingProfiles'
  | 'compositeSchedule'
  | 'reservations'
  | 'localList'
  | 'certificates'
  | 'transactions'
  | 'authorize'
  | 'sendMeterValues'
>;

export interface VersionStack {
  readonly bootStatus: OcppBootStatus;
  readonly heartbeatIntervalS: number | null;
  readonly lastHeartbeatMs: number | null;
  readonly transactionMessages: number;
  readonly droppedMeterValues: number;
  readonly view: VersionView;
  /** Restores its state; before the first connection. */
  load(): Promise<void>;
  opened(event: LineOpened): void;
  closed(event: LineClosed): void;
  /** An attempt to connect has failed. */
  failed(failure: ConnectFailure): void;
  /** A frame has gone out. */
  sent(): void;
  /** Answers a call that fits its schema. */
  readonly handle: CallHandler;
  /** The station leaves or the process ends: timers and listeners end, nothing more is sent. */
  stop(): void;
}
