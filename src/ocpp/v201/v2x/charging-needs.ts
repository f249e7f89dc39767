/** What a vehicle of the device would tell by ISO 15118: its needs, and the schedule that it makes of an offered one. */
import type { EvDetail, EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { stamp } from '../parts.ts';
import type { Requests, Version2 } from '../parts.ts';
import type { ChargingNeeds, ChargingSchedule, EnergyTransferModeEnum } from '../messages.ts';

/** Transfers that vehicle and EVSE have in common; one with discharge comes first. */
export function commonTransfers(
  { type, phases }: Pick<EvseConnectorDetail, 'type' | 'phases'>,
  ev: Pick<EvDetail, 'phases' | 'maxDischargeW'>,
  mayDischarge: boolean,
): readonly EnergyTransferModeEnum[] {
  const both = mayDischarge && ev.maxDischargeW > 0;
  if (type === 'dc') return [...(both ? (['DC_BPT'] as const) : []), 'DC'];
  const charging = phases === 3 && ev.phases === 3 ? 'AC_three_phase' : 'AC_single_phase';
  return [...(both ? (['AC_BPT'] as const) : []), charging];
}

export const discharges = (mode: EnergyTransferModeEnum) => mode === 'DC_BPT' || mode === 'AC_BPT';

/** Wh from the present state of charge to another one. */
const energyTo = (socPct: number, ev: EvDetail) => Math.round(((socPct - ev.socPct) / 100) * ev.batteryCapacityWh);

function acNeeds(connector: EvseConnectorDetail, ev: EvDetail): NonNullable<ChargingNeeds['acChargingParameters']> {
  const { nominalVoltageV, minPowerW, phases } = connector;
  const used = Math.min(phases, ev.phases);
  return {
    energyAmount: Math.max(0, energyTo(ev.targetSocPct, ev)),
    evMinCurrent: Math.round(minPowerW / (phases * nominalVoltageV)),
    evMaxCurrent: Math.round(ev.maxChargeW / (used * nominalVoltageV)),
    evMaxVoltage: Math.round(nominalVoltageV),
  };
}

function dcNeeds(connector: EvseConnectorDetail, ev: EvDetail): NonNullable<ChargingNeeds['dcChargingParameters']> {
  return {
    evMaxCurrent: Math.round(ev.maxChargeW / connector.nominalVoltageV),
    evMaxVoltage: Math.round(connector.nominalVoltageV),
    evMaxPower: Math.round(ev.maxChargeW),
    evEnergyCapacity: Math.round(ev.batteryCapacityWh),
    energyAmount: Math.max(0, energyTo(ev.targetSocPct, ev)),
    stateOfCharge: Math.round(ev.socPct),
    fullSoC: 100,
  };
}

function v2xNeeds(connector: EvseConnectorDetail, ev: EvDetail, maxDischargeW: number) {
  return {
    minChargePower: Math.round(connector.minPowerW),
    maxChargePower: Math.round(Math.min(connector.maxPowerW, ev.maxChargeW)),
    minDischargePower: 0,
    maxDischargePower: Math.round(Math.min(maxDischargeW, ev.maxDischargeW)),
    evTargetEnergyRequest: energyTo(ev.targetSocPct, ev),
    evMinEnergyRequest: energyTo(ev.reserveSocPct, ev),
    evMaxEnergyRequest: energyTo(100, ev),
    evMinV2XEnergyRequest: energyTo(ev.reserveSocPct, ev),
    evMaxV2XEnergyRequest: energyTo(100, ev),
    targetSoC: Math.round(ev.targetSocPct),
  };
}

function departure({ departureTime }: EvDetail): string | undefined {
  const ms = departureTime === null ? NaN : Date.parse(departureTime);
  return Number.isNaN(ms) ? undefined : stamp(ms);
}

/** @param transfers those in common, the requested one first */
export function needsOf(
  connector: EvseConnectorDetail,
  ev: EvDetail,
  transfers: readonly EnergyTransferModeEnum[],
  version: Version2,
): ChargingNeeds {
  const requested = transfers[0] ?? 'DC';
  const departureTime = departure(ev);
  return {
    requestedEnergyTransfer: requested,
    ...(version === 'ocpp2.1' && transfers.length > 0 && { availableEnergyTransfer: transfers }),
    ...(departureTime !== undefined && { departureTime }),
    ...(connector.type === 'dc'
      ? { dcChargingParameters: dcNeeds(connector, ev) }
      : { acChargingParameters: acNeeds(connector, ev) }),
    // the station rates both directions alike
    ...(discharges(requested) && { v2xChargingParameters: v2xNeeds(connector, ev, connector.maxPowerW) }),
  };
}

type Notice = Requests['NotifyEVChargingSchedule'];

/**
 * The schedule of the vehicle: what it is offered, at most what it can take. Null: a period has no ceiling that it could
 * be within.
 */
export function evScheduleOf(
  offered: ChargingSchedule,
  connector: Pick<EvseConnectorDetail, 'type' | 'phases' | 'nominalVoltageV'>,
  ev: Pick<EvDetail, 'maxChargeW' | 'phases'>,
): Notice['chargingSchedule'] | null {
  const phases = connector.type === 'dc' ? 1 : Math.min(connector.phases, ev.phases);
  const ownMax =
    offered.chargingRateUnit === 'W' ? ev.maxChargeW : ev.maxChargeW / (phases * connector.nominalVoltageV);
  const periods = offered.chargingSchedulePeriod.flatMap(({ startPeriod, limit }) =>
    limit === undefined ? [] : [{ startPeriod, limit: Math.floor(Math.min(limit, ownMax) * 10) / 10 }],
  );
  if (periods.length < offered.chargingSchedulePeriod.length) return null;
  const { id, chargingRateUnit, duration } = offered;
  return {
    id,
    chargingRateUnit,
    ...(duration !== undefined && { duration }),
    chargingSchedulePeriod: periods,
  };
}
