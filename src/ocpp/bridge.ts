/** The charging station behind an OCPP client, from a device and its register map: the only part that knows both. */
import type { Device } from '../contract/device.ts';
import type { EvseConnectorDetail, EvseDetail } from '../contract/kinds/evse.ts';
import type { Plant } from '../contract/plant.ts';
import { SimError } from '../core/errors.ts';
import { createDerPort } from './der-bridge.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import { connectorSample, stationSample } from './meter-values/sampling.ts';
import type { GridMeter } from './meter-values/sampling.ts';
import type { ConnectorRating, StationNameplate, StationPort } from './station/port.ts';

/** The plant as a station sees it. */
type StationPlant = Pick<Plant, 'now' | 'time' | 'silentDevices' | 'onTick'>;

/** @throws SimError COMMAND_NOT_APPLICABLE */
function evseDetailOf({ detail, index }: Pick<Device, 'detail' | 'index'>): EvseDetail {
  if (detail.kind === 'evse') return detail;
  throw new SimError('COMMAND_NOT_APPLICABLE', `device ${index} is no charging station`);
}

function nameplateOf({ bank }: Device, { vendor, model, firmwareVersion }: EvseDetail): StationNameplate {
  const serial = bank.map.m1.SN;
  return { vendor, model, serialNumber: serial === '' ? null : serial, firmwareVersion };
}

function ratingOf(connector: EvseConnectorDetail): ConnectorRating {
  const { connectorId, type, phases, nominalVoltageV, maxPowerW, maxCurrentA, bidirectional, attachedCable } =
    connector;
  return { connectorId, type, phases, nominalVoltageV, maxPowerW, maxCurrentA, bidirectional, attachedCable };
}

/** Line to neutral, V; 702.VNomRtg is from line to line but on a single phase. */
function nominalLnV({ bank: { map } }: Device): number {
  const nominalV = map.m702.VNomRtg ?? 0;
  const { ACType } = map.m701;
  return ACType === 'THREE_PHASE' ? nominalV / Math.sqrt(3) : ACType === 'SPLIT_PHASE' ? nominalV / 2 : nominalV;
}

function stationRatingOf(device: Device, detail: EvseDetail): ConnectorRating {
  const phases = device.bank.map.m701.ACType === 'THREE_PHASE' ? 3 : 1;
  const nominalVoltageV = nominalLnV(device);
  return {
    connectorId: 0,
    type: 'ac',
    phases,
    nominalVoltageV,
    maxPowerW: detail.maxPowerW,
    maxCurrentA: nominalVoltageV > 0 ? detail.maxPowerW / (phases * nominalVoltageV) : 0,
    bidirectional: detail.connectors.some(({ bidirectional }) => bidirectional),
    attachedCable: true,
  };
}

/** The points of 701 as magnitudes of consumption: SunSpec counts what is injected as positive. */
function gridMeter({ bank }: Device): GridMeter {
  const m = bank.map.m701;
  const phases = m.ACType === 'THREE_PHASE' ? 3 : m.ACType === 'SPLIT_PHASE' ? 2 : 1;
  const each = (values: readonly (number | null)[]) => values.slice(0, phases).map((value) => value ?? 0);
  return {
    reactivePowerVar: 0 - (m.Var ?? 0),
    frequencyHz: m.Hz ?? 0,
    voltageV: each([m.VL1, m.VL2, m.VL3]),
    currentA: each([m.AL1, m.AL2, m.AL3]).map(Math.abs),
    powerByPhaseW: each([m.WL1, m.WL2, m.WL3]).map((w) => 0 - w),
  };
}

/**
 * The port of a charging station.
 * @param id charge point identity: the peer in the provenance of its commands
 * @throws SimError COMMAND_NOT_APPLICABLE for any other device
 */
export function createStationPort(device: Device, plant: StationPlant, id: string): StationPort {
  const start = evseDetailOf(device);
  const commandOrigin = { source: 'ocpp', peer: id } as const;
  const hz = () => pointNumber(device.bank, 701, 'Hz') ?? 0;
  const connectorOf = (connectorId: number): EvseConnectorDetail => {
    const { connectors } = evseDetailOf(device);
    const match = connectors.find((each) => each.connectorId === connectorId);
    if (match) return match;
    const ids = connectors.map((each) => each.connectorId).join(', ');
    throw new SimError('UNKNOWN_RESOURCE', `${id} has no connector ${connectorId}; it has ${ids}.`);
  };
  return {
    deviceIndex: device.index,
    nameplate: nameplateOf(device, start),
    connectorIds: start.connectors.map(({ connectorId }) => connectorId).sort((a, b) => a - b),
    ratings: start.connectors.map(ratingOf),
    stationRating: stationRatingOf(device, start),
    get detail() {
      return evseDetailOf(device);
    },
    connector: connectorOf,
    sample: (connectorId) =>
      connectorId === 0
        ? stationSample(evseDetailOf(device), device.detailAt, gridMeter(device))
        : connectorSample(connectorOf(connectorId), device.detailAt, hz()),
    sampleOf: ({ connector, at, powerW }) => connectorSample(connector, at, hz(), powerW),
    get now() {
      // within a sub-step the device may be ahead of the clock
      return device.detailAt > plant.now ? device.detailAt : plant.now;
    },
    get dark() {
      return plant.silentDevices.has(device.index);
    },
    command: (command, by = commandOrigin) => {
      device.command(command, by);
    },
    openDer: () => createDerPort(device, plant),
    onTransition: (listener) => device.onEvse(listener),
  };
}
