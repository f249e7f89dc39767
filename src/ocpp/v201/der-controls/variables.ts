/** Variables of DCDERCtrlr and ACDERCtrlr. */
import type { DerPort } from '../../station/port.ts';
import type { StationParts } from '../parts.ts';

/** Points of 702 by variable. */
const ratings: Readonly<Record<string, string>> = {
  MaxW: 'WMaxRtg',
  OverExcitedW: 'WOvrExtRtg',
  OverExcitedPF: 'WOvrExtRtgPF',
  UnderExcitedW: 'WUndExtRtg',
  UnderExcitedPF: 'WUndExtRtgPF',
  MaxVA: 'VAMaxRtg',
  MaxVar: 'VarMaxInjRtg',
  MaxVarNeg: 'VarMaxAbsRtg',
  MaxChargeRateW: 'WChaRteMaxRtg',
  MaxChargeRateVA: 'VAChaRteMaxRtg',
  VNom: 'VNomRtg',
  MaxV: 'VMaxRtg',
  MinV: 'VMinRtg',
  ReactiveSusceptance: 'ReactSusceptRtg',
};

/** Points of model 1 by variable. */
const texts: Readonly<Record<string, string>> = {
  InverterManufacturer: 'Mn',
  InverterModel: 'Md',
  InverterSerialNumber: 'SN',
  InverterSwVersion: 'Vr',
};

/** Provides the values of the variables at every EVSE. @param modes values of ModesSupported */
export function provideVariables(
  { variables, device }: Pick<StationParts, 'variables' | 'device'>,
  port: Pick<DerPort, 'number' | 'text'>,
  modes: readonly string[],
): void {
  for (const evseId of device.connectorIds) {
    const provide = (component: string, variable: string, read: () => string) => {
      const place = { evseId };
      if (variables.has(component, variable, place)) variables.provide(component, variable, read, place);
    };
    for (const [variable, point] of Object.entries(ratings))
      provide('DCDERCtrlr', variable, () => String(port.number(702, point) ?? 0));
    for (const [variable, point] of Object.entries(texts))
      provide('DCDERCtrlr', variable, () => port.text(1, point) ?? '');
    for (const component of ['DCDERCtrlr', 'ACDERCtrlr']) provide(component, 'ModesSupported', () => modes.join(','));
  }
}
