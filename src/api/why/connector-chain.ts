/** The chain of limits at a connector of a charging station, and the sentence about its power. */
import type { Device } from '../../contract/device.ts';
import type { EvseConnectorDetail, EvseDetail } from '../../contract/kinds/evse.ts';
import { freePowerW, idleReason, limitHolding } from '../../contract/kinds/evse-power.ts';
import type { IdleReason } from '../../contract/kinds/evse-power.ts';
import { connectorLimits, deviceLimits } from '../../contract/limit-chain.ts';
import type { ConnectorLimit, DeviceLimit } from '../../contract/limit-chain.ts';
import type { OcppStation } from '../../contract/ocpp.ts';
import type { Plant } from '../../contract/plant.ts';
import { powerText } from '../../contract/power-text.ts';
import type { Provenance } from '../../core/origin.ts';
import { latestOf } from '../common/points.ts';
import { overrideOf } from '../common/writers.ts';
import { deviceLimitFacts } from './limit-facts.ts';
import { limitOf } from './model.ts';
import type { LimitFacts, Why } from './model.ts';
import { byText, shownWriter, timeText } from './words.ts';

export interface AtConnector {
  readonly device: Device;
  readonly plant: Plant;
  readonly detail: EvseDetail;
  readonly connector: EvseConnectorDetail;
  /** identity of the charge point */
  readonly id: string;
  readonly ocpp: OcppStation | null;
}

const vehicleName = ({ ev }: EvseConnectorDetail) => ev?.id ?? 'the vehicle';

/** Why a connector has no power that a limit could hold. */
function idleText({ ev, errorCode }: EvseConnectorDetail, reason: IdleReason): string {
  const name = ev?.id ?? 'The vehicle';
  switch (reason) {
    case 'no_vehicle':
      return 'No vehicle is plugged in.';
    case 'error':
      return `Out of service: ${errorCode}.`;
    case 'full':
      return `${name} is full (${ev?.socPct.toFixed(0)} % of ${ev?.targetSocPct.toFixed(0)} %).`;
    case 'unauthorised':
      return `${name} waits for authorisation.`;
    case 'starting':
      return `${name} starts.`;
    case 'ended':
      return `${name} has ended its session.`;
  }
}

/** The limit from outside as the station follows it: a function or the service state of the device, or its site. */
function outsideKey({ detail: { externalLimit } }: AtConnector): DeviceLimit | null {
  return deviceLimits.find((key) => key === externalLimit?.decidedBy) ?? null;
}

/** Values of the limits while they do not set the power, W; null: off. */
function limitsOf(at: AtConnector): Record<ConnectorLimit, number | null> {
  const { connector, detail } = at;
  const outsideW = detail.externalLimit && Math.max(0, detail.externalLimit.limitW - detail.standbyW);
  const key = outsideKey(at);
  return {
    hardware: Math.abs(connector.possibleW),
    ev: connector.ev && (connector.wantedW < 0 ? connector.ev.maxDischargeW : connector.ev.maxChargeW),
    charging_profile: connector.wantedW < 0 ? null : connector.profileLimitW,
    local: connector.wantedW < 0 ? connector.dischargeW : connector.localLimitW,
    sharing: null,
    der: key === 'site' ? null : outsideW,
    site: key === 'site' ? outsideW : null,
    ramp: null,
  };
}

function localWriter({ device, connector }: AtConnector): Provenance | null {
  const { connectorId, wantedW } = connector;
  const names = ['evse_suspension', wantedW < 0 ? 'evse_discharge' : 'evse_limit'] as const;
  return latestOf(names.map((name) => overrideOf(device, name, connectorId)));
}

function profileFacts({ device, plant, connector, ocpp }: AtConnector): Pick<LimitFacts, 'by' | 'clause'> {
  const ids = [connector.connectorId, 0];
  const by = shownWriter(latestOf(ids.map((id) => overrideOf(device, 'evse_profile_limit', id))));
  const profile = ocpp?.functions.chargingProfiles(connector.connectorId)[0];
  const name = profile === undefined ? 'charging profile' : `charging profile ${profile.profileId}`;
  const since = by === null ? '' : `, since ${timeText(plant, by.at)}`;
  return { by, clause: `${name} of the OCPP central system${since}` };
}

function sharingText({ detail }: AtConnector): string {
  const count = detail.connectors.filter(({ ev }) => ev !== null).length;
  return `the station shares ${powerText(detail.maxPowerW)} between ${count} vehicles`;
}

const labels: Readonly<Record<ConnectorLimit, string>> = {
  hardware: 'station and cable',
  ev: 'the vehicle',
  charging_profile: 'charging profile',
  local: 'local limit',
  sharing: 'sharing between connectors',
  der: 'limit of the device',
  site: 'limit of the site',
  ramp: 'a ramp',
};

function factsOf(at: AtConnector, key: ConnectorLimit): LimitFacts {
  const { plant, device, connector } = at;
  const facts = {
    by: null,
    owner: null,
    untilMs: null,
    link: `evse/${encodeURIComponent(at.id)}/connectors/${connector.connectorId}`,
    label: labels[key],
    clause: labels[key],
  };
  switch (key) {
    case 'charging_profile':
      return { ...facts, ...profileFacts(at) };
    case 'local': {
      const by = shownWriter(localWriter(at));
      return { ...facts, by, clause: `local limit${byText(plant, 'set', by)}` };
    }
    case 'sharing':
      return { ...facts, clause: sharingText(at) };
    case 'der':
    case 'site': {
      const outside = outsideKey(at);
      return outside === null ? facts : { ...deviceLimitFacts(device, plant, outside), label: labels[key] };
    }
    case 'ev': {
      const by = shownWriter(overrideOf(device, 'evse_suspension', connector.connectorId));
      return connector.phase === 'suspended_ev' ? { ...facts, by, clause: 'the vehicle pauses' } : facts;
    }
    case 'ramp':
      return { ...facts, clause: `${vehicleName(connector)} moves to its new power` };
    case 'hardware':
      return facts;
  }
}

/** Why a connector has its power. */
export function connectorWhy(at: AtConnector): Why {
  const { device, connector } = at;
  const { wantedW, powerW, connectorId } = connector;
  const reason = idleReason(connector);
  const idle = reason && idleText(connector, reason);
  const winner = limitHolding(connector);
  const deliveredW = Math.abs(powerW);
  const limitsW = limitsOf(at);
  const askedText = `${vehicleName(connector)} asks for`;
  const chain = connectorLimits.map((key) =>
    limitOf(key, factsOf(at, key), key === winner ? deliveredW : limitsW[key], key === winner, connector.maxPowerW),
  );
  const freeW = freePowerW(connector, winner);
  const clause = winner === null ? '' : factsOf(at, winner).clause;
  return {
    deviceIndex: device.index,
    connectorId,
    direction: wantedW < 0 || powerW < 0 ? 'delivers' : 'absorbs',
    basis:
      idle === null
        ? { key: 'asked', powerW: freeW, text: `all that ${askedText}` }
        : { key: 'rest', powerW: deliveredW, text: idle },
    chain,
    deliveredW,
    sentence:
      idle ??
      (winner === null
        ? `${powerText(deliveredW)}, all that ${askedText}.`
        : `${powerText(deliveredW)} of ${powerText(freeW)} that ${askedText}: ${clause}.`),
    reactive: null,
  };
}
