/** DCDERCtrlr and ACDERCtrlr: each EVSE that gives power back, with the ratings of the inverter of the station. */
import { derTargets } from '../../der-controls/translate.ts';
import type { DataType, Place, VariableFacts, VariableRow } from '../model.ts';

/** The type of a connector that gives power back; null: this one does not. */
function kindOf({ evseIds, ratings }: VariableFacts, { evseId }: Place): 'ac' | 'dc' | null {
  const rating = ratings[evseIds.findIndex((each) => each === evseId)];
  return rating?.bidirectional === true ? rating.type : null;
}

interface Given {
  readonly unit?: string;
  readonly type?: DataType;
  readonly initial?: string;
}

const everyType = Object.keys(derTargets);

function row(kind: 'ac' | 'dc', variable: string, { unit, type = 'decimal', initial = '0' }: Given = {}): VariableRow {
  return {
    component: kind === 'ac' ? 'ACDERCtrlr' : 'DCDERCtrlr',
    tier: 'evse',
    variable,
    type,
    mutability: 'ReadOnly',
    initial: (facts, place) => (kindOf(facts, place) === kind ? initial : null),
    since: 'ocpp2.1',
    ...(unit !== undefined && { unit }),
    ...(type === 'MemberList' && { values: everyType }),
  };
}

const text = { type: 'string', initial: '' } as const;
const modes = { type: 'MemberList', initial: '' } as const;

/** `createDerControl` gives the values. */
export const derRows: readonly VariableRow[] = [
  row('dc', 'Enabled', { type: 'boolean', initial: 'true' }),
  row('dc', 'MaxW', { unit: 'W' }),
  row('dc', 'OverExcitedW', { unit: 'W' }),
  row('dc', 'OverExcitedPF'),
  row('dc', 'UnderExcitedW', { unit: 'W' }),
  row('dc', 'UnderExcitedPF'),
  row('dc', 'MaxVA', { unit: 'VA' }),
  row('dc', 'MaxVar', { unit: 'var' }),
  row('dc', 'MaxVarNeg', { unit: 'var' }),
  row('dc', 'MaxChargeRateW', { unit: 'W' }),
  row('dc', 'MaxChargeRateVA', { unit: 'VA' }),
  row('dc', 'VNom', { unit: 'V' }),
  row('dc', 'MaxV', { unit: 'V' }),
  row('dc', 'MinV', { unit: 'V' }),
  row('dc', 'ReactiveSusceptance', { unit: 's' }),
  row('dc', 'ModesSupported', modes),
  row('dc', 'InverterManufacturer', text),
  row('dc', 'InverterModel', text),
  row('dc', 'InverterSerialNumber', text),
  row('dc', 'InverterSwVersion', text),
  // no model and no profile has a version of the hardware
  row('dc', 'InverterHwVersion', { type: 'string', initial: '1.0' }),
  row('ac', 'ModesSupported', modes),
];
