/** The disconnect switch behind 123.Conn. */
import type { Origin, Provenance } from '../../core/origin.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { m123 } from '../../sunspec/models/m123.ts';
import { TimedCommand } from './timed-command.ts';
import type { CommandHost } from './timed-command.ts';

export interface ConnectHost extends CommandHost {
  readonly isClosed: () => boolean;
  readonly setSwitch: (closed: boolean, by: Origin) => void;
  /** last writer of the switch; undefined: as started */
  readonly switchWriter: () => Provenance | undefined;
  /** true if a fault keeps the last write of the point from the device */
  readonly isWithheld: (slot: PointSlot) => boolean;
}

/** Writes of 123.Conn move the switch; after Conn_RvrtTms an open one closes again. */
export class ConnectCommands extends TimedCommand<ConnectHost> {
  protected readonly model = m123.id;
  protected readonly triggers = ['Conn', 'Conn_RvrtTms'];
  readonly #slot = this.host.bank.layout.slot(m123.id, 'Conn');

  /** The last writer of the switch over any protocol; undefined for other points. */
  writerOf(slot: PointSlot): Provenance | undefined {
    return slot === this.#slot ? this.host.switchWriter() : undefined;
  }

  protected get windowS(): number {
    return this.host.bank.map.m123?.Conn_WinTms ?? 0;
  }

  protected get reversionS(): number {
    return this.host.bank.map.m123?.Conn_RvrtTms ?? 0;
  }

  protected act(by: Origin): boolean {
    const closed = this.host.bank.map.m123?.Conn === 'CONNECT';
    this.host.setSwitch(closed, by);
    return !closed;
  }

  protected revert(by: Origin): void {
    this.host.setSwitch(true, by);
  }

  protected update(): void {
    const { bank, isClosed, isWithheld } = this.host;
    const { m123: m } = bank.measurements;
    if (m && this.#slot && !isWithheld(this.#slot)) m.Conn = isClosed() ? 'CONNECT' : 'DISCONNECT';
  }
}
