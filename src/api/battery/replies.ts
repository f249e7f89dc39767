import type { BatteryDetail, BatteryModule, BatteryString } from '../../contract/kinds/battery.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { Device } from '../../contract/device.ts';
import { pointNumber } from '../common/points.ts';
import type { BatteryBankReply, BatteryDetailLevel, BatteryStringReply } from './schemas.ts';
import { kilo, rounded } from '../common/kind-replies.ts';
import type { RouteContext } from '../http/context.ts';
import { eachLater } from '../http/pieces.ts';
import type { InPieces, LaterItems } from '../http/pieces.ts';

/** The value of the point where the device serves it, so that all interfaces show the same number. */
function shown(bank: Bank, modelId: number, point: string, otherwise: number): number {
  return rounded(pointNumber(bank, modelId, point) ?? otherwise);
}

/** The bank without its strings. */
export function batteryBankReply({ bank }: Device, d: BatteryDetail): BatteryBankReply {
  return {
    soc_pct: shown(bank, 713, 'SoC', d.socPct),
    true_soc_pct: rounded(d.trueSocPct),
    soh_pct: shown(bank, 713, 'SoH', d.sohPct),
    mode: d.mode,
    control: d.control,
    power_kw: kilo(shown(bank, 802, 'W', d.powerW)),
    dc_voltage_v: shown(bank, 802, 'V', d.dcVoltageV),
    dc_current_a: shown(bank, 802, 'A', d.dcCurrentA),
    chemistry: d.chemistry,
    capacity_kwh: kilo(shown(bank, 713, 'WHRtg', d.capacityWh)),
    energy_available_kwh: kilo(shown(bank, 713, 'WHAvail', d.energyAvailableWh)),
    max_charge_kw: kilo(d.maxChargeW),
    max_discharge_kw: kilo(d.maxDischargeW),
    soc_min_pct: shown(bank, 802, 'SoCMin', d.socMinPct),
    soc_max_pct: shown(bank, 802, 'SoCMax', d.socMaxPct),
    soc_reserve_min_pct: shown(bank, 802, 'SoCRsvMin', d.socReserveMinPct),
    soc_reserve_max_pct: shown(bank, 802, 'SocRsvMax', d.socReserveMaxPct),
    temperature_c: rounded(d.temperatureC),
    cell_voltage_min_v: shown(bank, 802, 'CellVMin', d.cellVoltageMinV),
    cell_voltage_max_v: shown(bank, 802, 'CellVMax', d.cellVoltageMaxV),
    cell_voltage_avg_v: shown(bank, 802, 'CellVAvg', d.cellVoltageAvgV),
    cycle_count: shown(bank, 802, 'NCyc', d.cycleCount),
    energy_charged_wh: rounded(d.energyChargedWh),
    energy_discharged_wh: rounded(d.energyDischargedWh),
    state: d.state,
    inhibit: d.inhibit,
  };
}

function moduleReply(
  module: BatteryModule,
  withCells: boolean,
): InPieces<NonNullable<BatteryStringReply['modules']>[number]> {
  return {
    index: module.index,
    soc_pct: rounded(module.socPct),
    soh_pct: rounded(module.sohPct),
    voltage_v: rounded(module.voltageV),
    cell_voltage_max_v: rounded(module.cellVoltageMaxV),
    cell_voltage_min_v: rounded(module.cellVoltageMinV),
    temperature_min_c: rounded(module.temperatureMinC),
    temperature_max_c: rounded(module.temperatureMaxC),
    ...(withCells && {
      cells: eachLater(module.cells, ({ index, voltageV, temperatureC, balancing }) => ({
        index,
        voltage_v: rounded(voltageV),
        temperature_c: rounded(temperatureC),
        balancing,
      })),
    }),
  };
}

function stringReply(string: BatteryString, level: BatteryDetailLevel): InPieces<BatteryStringReply> {
  return {
    index: string.index,
    contactor: string.contactor === 'closed' ? 'closed' : 'open',
    soc_pct: rounded(string.socPct),
    soh_pct: rounded(string.sohPct),
    voltage_v: rounded(string.voltageV),
    current_a: rounded(string.currentA),
    cell_voltage_avg_v: rounded(string.cellVoltageAvgV),
    cell_voltage_min_v: rounded(string.cellVoltageMinV),
    cell_voltage_max_v: rounded(string.cellVoltageMaxV),
    temperature_c: rounded(string.temperatureC),
    ...(level !== 'strings' && {
      modules: eachLater(string.modules, (module) => moduleReply(module, level === 'cells')),
    }),
  };
}

/** Strings of a storage at this moment down to a level; undefined for the level `bank`. */
export function batteryStringsReply(
  { replyCache }: Pick<RouteContext, 'replyCache'>,
  device: Device,
  level: BatteryDetailLevel,
): LaterItems<InPieces<BatteryStringReply>> | undefined {
  if (level === 'bank') return undefined;
  // all cells as objects: clients that ask at one moment share them
  const tree = replyCache.of(`storage tree of ${device.index}`, () => device.storageTree());
  return tree === null ? undefined : eachLater(tree.strings, (string) => stringReply(string, level));
}
