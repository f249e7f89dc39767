/**
 * The rates of 124 on a device whose battery is not its only source: they force the battery, whatever flows at the
 * terminals, where a set-point of 704 would ask for power there.
 */
import type { BatteryDetail } from '../../contract/kinds/battery.ts';
import type { SourceCommand } from '../../contract/device.ts';
import type { Origin } from '../../core/origin.ts';
import { m124 } from '../../sunspec/models/m124.ts';
import { assignTo, readerOf } from './bound-faces.ts';
import { rateValues, ratedW } from './faces.ts';
import { TimedCommand } from './timed-command.ts';
import type { CommandHost } from './timed-command.ts';

export interface BatteryRatesHost extends CommandHost {
  readonly battery: () => BatteryDetail | null;
  readonly command: (command: SourceCommand, by: Origin) => void;
}

/** W; smaller changes do not show in the registers */
const negligibleW = 1;

/** Power of a forced battery, W, + to discharge; null: not forced. */
function forcedW({ requestedMode, requestedPowerW }: BatteryDetail): number | null {
  if (requestedMode === 'auto') return null;
  return (requestedMode === 'charge' ? -1 : 1) * (requestedPowerW ?? 0);
}

export class BatteryRates extends TimedCommand<BatteryRatesHost> {
  protected readonly model = m124.id;
  protected readonly triggers = ['StorCtl_Mod', 'OutWRte', 'InWRte', 'InOutWRte_RvrtTms'];
  readonly #read = readerOf(this.host.bank.layout, (slot) => this.host.bank.value(slot));

  protected get windowS(): number {
    return this.host.bank.map.m124?.InOutWRte_WinTms ?? 0;
  }

  protected get reversionS(): number {
    return this.host.bank.map.m124?.InOutWRte_RvrtTms ?? 0;
  }

  protected act(by: Origin): boolean {
    const wantedW = ratedW(this.#read);
    const before = this.host.battery();
    if (wantedW === null) {
      if (before !== null && forcedW(before) !== null) this.revert(by);
      return false;
    }
    const mode = wantedW < 0 ? 'charge' : 'discharge';
    this.host.command({ kind: 'battery.control', mode, powerW: Math.abs(wantedW) }, by);
    return true;
  }

  protected revert(by: Origin): void {
    this.host.command({ kind: 'battery.control', mode: 'auto' }, by);
  }

  /** Another protocol may have forced the battery. */
  protected update(): void {
    const { bank, battery } = this.host;
    const detail = battery();
    if (!detail) return;
    const [nowW, shownW] = [forcedW(detail), ratedW(this.#read)];
    if (nowW === shownW || (nowW !== null && shownW !== null && Math.abs(nowW - shownW) <= negligibleW)) return;
    assignTo(bank.layout, rateValues(this.#read, nowW), (slot, value) => {
      bank.publish(slot, value);
    });
  }
}
