/** The table of quantities: one row for each, with its place in every protocol. */
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import type { FunctionName } from '../../sunspec/map/grid-support/functions.ts';
import { flagMember, scaledMember, hundredthsMember, wordMember } from './readers.ts';
import type { CsipDocumentPlace, Dnp3Place, QuantityRow, RegisterPlace, RestPlace } from './model.ts';
import { quantityNames, switchedFunctions } from './names.ts';
import type { EnableName, NamedQuantity, QuantityName } from './names.ts';

/** Models of an inverter before 700, with integers and floats, by number of phases. */
const inverterModels = [103, 102, 101, 113, 112, 111] as const;

function classic(name: string, more: Omit<RegisterPlace, 'point'> = {}): readonly RegisterPlace[] {
  return inverterModels.map((model) => ({ point: `${model}.${name}`, ...more }));
}

const magnitude = { isMagnitude: true } as const;

/** A metric of the snapshot, which REST and the stream share. */
function metric(name: string, unit?: string, factor = 1): Pick<QuantityRow, 'rest' | 'stream'> {
  const place = { member: `metrics.${name}`, factor, ...(unit !== undefined && { unit }) };
  return { rest: { read: 'list_devices', ...place }, stream: place };
}

function status(name: string): Pick<QuantityRow, 'rest' | 'stream'> {
  const place = { member: `status.${name}` };
  return { rest: { read: 'list_devices', ...place }, stream: place };
}

const support = (member: string, unit?: string, factor = 1): RestPlace => ({
  read: 'get_grid_support',
  member,
  factor,
  ...(unit !== undefined && { unit }),
});
const capacity = (member: string, unit: string): RestPlace => ({ read: 'get_nameplate', member, unit });

/** PhaseCode of IEEE 2030.5: L1, L2 and L3 to neutral. */
const phaseCodes = [129, 65, 33] as const;
const letters = ['A', 'B', 'C'] as const;

function phaseVoltage(i: 0 | 1 | 2): QuantityRow {
  return {
    about: `Voltage from L${i + 1} to neutral.`,
    unit: 'V',
    measured: true,
    registers: [`701.VL${i + 1}`, ...classic(`PhVph${letters[i]}`)],
    dnp3: { point: `AI${547 + 2 * i}` },
    ocpp: { measurand: 'Voltage', phase: `L${i + 1}-N` },
    csip: { uom: 29, phase: phaseCodes[i] },
  };
}

function lineVoltage(lines: string, name: string): QuantityRow {
  return {
    about: `Voltage from ${lines.slice(0, 2)} to ${lines.slice(2)}.`,
    unit: 'V',
    measured: true,
    registers: [`701.V${lines}`, ...classic(`PPVph${name}`)],
  };
}

function phaseCurrent(i: 0 | 1 | 2): QuantityRow {
  return {
    about: `Current of L${i + 1}.`,
    unit: 'A',
    measured: true,
    registers: [`701.AL${i + 1}`, ...classic(`Aph${letters[i]}`, magnitude)],
    dnp3: { point: `AI${554 + i}` },
    ocpp: {
      measurand: 'Current.Import',
      less: 'Current.Export',
      isSum: true,
      phase: `L${i + 1}`,
      isMagnitude: true,
    },
  };
}

const document = (name: CsipDocumentPlace['document'], member: string, read: CsipDocumentPlace['read']) =>
  ({ document: name, member, read }) as const;

const powers = {
  active_power: {
    about: 'Active power at the terminals; positive = injected.',
    unit: 'W',
    measured: true,
    registers: ['701.W', ...classic('W')],
    ...metric('power_kw', 'kW', 1000),
    dnp3: { point: 'AI537' },
    ocpp: { measurand: 'Power.Active.Export', less: 'Power.Active.Import' },
    csip: { uom: 38 },
  },
  reactive_power: {
    about: 'Reactive power at the terminals; positive = injected.',
    unit: 'var',
    measured: true,
    registers: ['701.Var', ...classic('VAr')],
    ...metric('reactive_power_kvar', 'kvar', 1000),
    dnp3: { point: 'AI541' },
    ocpp: { measurand: 'Power.Reactive.Export', less: 'Power.Reactive.Import' },
    csip: { uom: 63 },
  },
  apparent_power: {
    about: 'Apparent power at the terminals.',
    unit: 'VA',
    measured: true,
    registers: ['701.VA', ...classic('VA')],
    ...metric('apparent_power_kva', 'kVA', 1000),
    dnp3: { point: 'AI546' },
  },
  power_factor: {
    about: 'Power factor with the sign of the active power.',
    unit: '',
    measured: true,
    // below this share the registers have 1, and a meter divides noise by noise
    minPower: { point: '701.VA', share: 1e-3, of: '702.WMaxRtg' },
    registers: ['701.PF', ...classic('PF', { factor: 0.01, isMagnitude: true })],
    ...metric('power_factor'),
    dnp3: { point: 'AI545' },
    ocpp: { measurand: 'Power.Factor', isMagnitude: true },
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

const grid = {
  voltage_l1: phaseVoltage(0),
  voltage_l2: phaseVoltage(1),
  voltage_l3: phaseVoltage(2),
  voltage_l1_l2: lineVoltage('L1L2', 'AB'),
  voltage_l2_l3: lineVoltage('L2L3', 'BC'),
  voltage_l3_l1: lineVoltage('L3L1', 'CA'),
  voltage_ln: {
    about: 'Mean voltage from line to neutral.',
    unit: 'V',
    measured: true,
    registers: ['701.LNV'],
    ...metric('voltage_ln_v', 'V'),
  },
  voltage_ll: {
    about: 'Mean voltage from line to line.',
    unit: 'V',
    measured: true,
    registers: ['701.LLV'],
    ...metric('voltage_ll_v', 'V'),
    dnp3: { point: 'AI553' },
  },
  current: {
    about: 'Sum of the currents of the lines.',
    unit: 'A',
    measured: true,
    registers: ['701.A', ...classic('A', magnitude)],
    ...metric('current_a', 'A'),
  },
  current_l1: phaseCurrent(0),
  current_l2: phaseCurrent(1),
  current_l3: phaseCurrent(2),
  frequency: {
    about: 'Frequency of the grid.',
    unit: 'Hz',
    measured: true,
    registers: ['701.Hz', ...classic('Hz')],
    ...metric('frequency_hz', 'Hz'),
    dnp3: { point: 'AI536' },
    ocpp: { measurand: 'Frequency' },
    csip: { uom: 33 },
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

const energies = {
  energy_injected: {
    about: 'Energy injected so far.',
    unit: 'Wh',
    measured: true,
    registers: ['701.TotWhInj', ...classic('WH')],
    dnp3: { point: 'CTR0' },
    ocpp: { measurand: 'Energy.Active.Export.Register' },
  },
  energy_absorbed: {
    about: 'Energy absorbed so far.',
    unit: 'Wh',
    measured: true,
    registers: ['701.TotWhAbs'],
    dnp3: { point: 'CTR1' },
    ocpp: { measurand: 'Energy.Active.Import.Register' },
  },
  reactive_energy_injected: {
    about: 'Reactive energy injected so far.',
    unit: 'varh',
    measured: true,
    registers: ['701.TotVarhInj', '122.ActVArhQ1'],
    dnp3: { point: 'CTR2' },
  },
  reactive_energy_absorbed: {
    about: 'Reactive energy absorbed so far.',
    unit: 'varh',
    measured: true,
    registers: ['701.TotVarhAbs', '122.ActVArhQ4'],
    dnp3: { point: 'CTR3' },
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

const sourceSide = {
  dc_power: {
    about: 'Power of all DC ports.',
    unit: 'W',
    measured: true,
    needs: '714.Prt[0].DCW',
    registers: ['714.DCW', ...classic('DCW')],
    ...metric('dc_power_kw', 'kW', 1000),
  },
  dc_voltage: {
    about: 'Voltage of the first DC port.',
    unit: 'V',
    measured: true,
    registers: ['714.Prt[0].DCV', ...classic('DCV')],
    ...metric('dc_voltage_v', 'V'),
  },
  dc_current: {
    about: 'Current of all DC ports.',
    unit: 'A',
    measured: true,
    needs: '714.Prt[0].DCA',
    registers: ['714.DCA'],
    ...metric('dc_current_a', 'A'),
  },
  state_of_charge: {
    about: 'State of charge of the storage.',
    unit: '%',
    measured: true,
    needs: '802.SoC',
    registers: ['713.SoC', '802.SoC', '124.ChaState'],
    ...metric('state_of_charge_pct', '%'),
    dnp3: { point: 'AI47' },
    csip: document('status', 'stateOfChargeStatus', hundredthsMember),
  },
  vehicle_state_of_charge: {
    about: 'State of charge of the vehicles at a charging station together.',
    unit: '%',
    kind: 'evse',
    rest: { read: 'get_evse', member: 'battery.soc_pct', unit: '%' },
    ocpp: { measurand: 'SoC', ofConnector: true },
    csip: document('status', 'stateOfChargeStatus', hundredthsMember),
  },
  available_power: {
    about: 'Active power that the device could inject now.',
    unit: 'W',
    measured: true,
    hasCoarseResolution: true,
    registers: ['122.WAval'],
    rest: { read: 'get_available_power', member: 'inject_kw', factor: 1000, unit: 'kW' },
    dnp3: { point: 'AI43', bound: 'device: available injectW' },
    csip: document('availability', 'statWAvail', scaledMember()),
  },
  available_charge_power: {
    about: 'Active power that the device could absorb now.',
    unit: 'W',
    measured: true,
    rest: { read: 'get_available_power', member: 'absorb_kw', factor: 1000, unit: 'kW' },
    dnp3: { point: 'AI44', bound: 'device: available absorbW', factor: -1 },
    csip: document('availability', 'statWAbsorbAvail', scaledMember()),
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

/** InverterStatusType of IEEE 2030.5. */
const inverterStatus: Readonly<Record<number, string>> = {
  1: 'off',
  2: 'sleeping',
  3: 'starting',
  4: 'running',
  5: 'throttled',
  6: 'shutting_down',
  7: 'fault',
  8: 'standby',
};

const states = {
  service_state: {
    about: 'State of service of the device.',
    unit: 'word',
    measured: true,
    registers: ['701.St'],
    ...status('service_state'),
  },
  connection_state: {
    about: 'Connection of the device to the grid.',
    unit: 'word',
    measured: true,
    registers: ['701.ConnSt'],
    ...status('connection_state'),
    csip: {
      ...document('status', 'genConnectStatus', flagMember(0, ['disconnected', 'connected'])),
      others: ['storConnectStatus', 'connectStatus'],
    },
  },
  inverter_state: {
    about: 'State of the inverter.',
    unit: 'word',
    measured: true,
    registers: ['701.InvSt', ...classic('St', { words: { MPPT: 'running' } })],
    ...status('inverter_state'),
    csip: document('status', 'inverterStatus', wordMember(inverterStatus)),
  },
  switch_closed: {
    about: 'Position of the disconnect switch.',
    unit: 'flag',
    rest: { read: 'get_controls', member: 'service.switch_closed' },
    dnp3: { point: 'BI23', bound: 'disconnect switch' },
  },
  local_control: {
    about: 'True if the device refuses remote writes.',
    unit: 'flag',
    on: 'LOCAL',
    registers: ['715.LocRemCtl'],
    dnp3: { point: 'BI10' },
    csip: document('status', 'localControlModeStatus', wordMember({ 0: true, 1: false })),
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

const limits = {
  power_limit: {
    about: 'Limit of active power, percent of the maximum active power.',
    unit: '%',
    registers: ['704.WMaxLimPct', '123.WMaxLimPct'],
    rest: support('max_power.limit_pct', '%'),
    dnp3: { point: 'AI149' },
  },
  power_set_point_pct: {
    about: 'Set-point of active power, percent of the maximum active power.',
    unit: '%',
    registers: ['704.WSetPct'],
    rest: support('active_power.setpoint_pct', '%'),
    dnp3: { point: 'AI154', unless: ['704.WSetMod', 'WATTS'] },
  },
  power_set_point: {
    about: 'Set-point of active power in watts.',
    unit: 'W',
    registers: ['704.WSet'],
    rest: support('active_power.setpoint_kw', 'kW', 1000),
  },
  reactive_set_point_pct: {
    about: 'Set-point of reactive power, percent of the reference in force.',
    unit: '%',
    registers: ['704.VarSetPct'],
    rest: support('constant_var.var_pct', '%'),
    dnp3: { point: 'AI281' },
  },
  reactive_set_point: {
    about: 'Set-point of reactive power in var.',
    unit: 'var',
    registers: ['704.VarSet'],
    rest: support('constant_var.var_kvar', 'kvar', 1000),
  },
  power_factor_set_point: {
    about: 'Set-point of the power factor while power is injected.',
    unit: '',
    registers: ['704.PFWInj.PF', { point: '123.OutPFSet', isMagnitude: true }],
    rest: support('pf.pf'),
    dnp3: { point: 'AI288' },
  },
  max_active_power: {
    about: 'Maximum active power as set.',
    unit: 'W',
    registers: ['702.WMax', '121.WMax'],
    rest: capacity('settings.w_max_w', 'W'),
    dnp3: { point: 'AI32' },
    csip: document('settings', 'setMaxW', scaledMember()),
  },
  max_charge_power: {
    about: 'Maximum active power that the device absorbs, as set.',
    unit: 'W',
    registers: ['702.WChaRteMax'],
    rest: capacity('settings.w_cha_rte_max_w', 'W'),
    dnp3: { point: 'AI33', factor: -1 },
    csip: document('settings', 'setMaxChargeRateW', scaledMember()),
  },
  max_apparent_power: {
    about: 'Maximum apparent power as set.',
    unit: 'VA',
    registers: ['702.VAMax', '121.VAMax'],
    rest: capacity('settings.va_max_va', 'VA'),
    dnp3: { point: 'AI36' },
    csip: document('settings', 'setMaxVA', scaledMember()),
  },
  nominal_voltage: {
    about: 'Nominal voltage as set.',
    unit: 'V',
    registers: ['702.VNom', '121.VRef'],
    rest: capacity('settings.v_nom_v', 'V'),
    dnp3: { point: 'AI29' },
    csip: document('settings', 'setVNom', scaledMember()),
  },
  rated_active_power: {
    about: 'Rated active power.',
    unit: 'W',
    registers: ['702.WMaxRtg', '120.WRtg'],
    rest: capacity('ratings.w_max_w', 'W'),
    dnp3: { point: 'AI4' },
    csip: document('capability', 'rtgMaxW', scaledMember()),
  },
} as const satisfies Partial<Record<NamedQuantity, QuantityRow>>;

const namedRows: Readonly<Record<NamedQuantity, QuantityRow>> = {
  ...powers,
  ...grid,
  ...energies,
  ...sourceSide,
  ...states,
  ...limits,
};

/** Inputs of DNP3 that show that a function is on; those of trips show that it is blocked. */
const enableInputs: Readonly<Partial<Record<FunctionName, Dnp3Place>>> = {
  volt_var: { point: 'BI81' },
  volt_watt: { point: 'BI77' },
  watt_var: { point: 'BI82' },
  freq_droop: { point: 'BI68' },
  constant_var: { point: 'BI79' },
  max_power: { point: 'BI69' },
  active_power: { point: 'BI70' },
  enter_service: { point: 'BI16' },
  hv_trip: { point: 'BI52', isInverse: true },
  lv_trip: { point: 'BI55', isInverse: true },
  hf_trip: { point: 'BI58', isInverse: true },
  lf_trip: { point: 'BI61', isInverse: true },
};

function enableRow(name: (typeof switchedFunctions)[number]): QuantityRow {
  const { model, enable, classicEnable, label } = functionTable[name];
  const input = enableInputs[name];
  return {
    about: `True if the function "${label}" is on.`,
    unit: 'flag',
    needs: `${model}.${enable}`,
    registers: [`${model}.${enable}`, ...(classicEnable === undefined ? [] : [`123.${classicEnable}`])],
    rest: { read: 'get_controls', member: `modes.${name}.enabled` },
    ...(input !== undefined && { dnp3: input }),
  };
}

const enables = Object.fromEntries(switchedFunctions.map((name) => [`${name}_enabled`, enableRow(name)])) as Readonly<
  Record<EnableName, QuantityRow>
>;

const rows: Readonly<Record<QuantityName, QuantityRow>> = { ...namedRows, ...enables };

/** Every quantity, in the order of replies. */
export const quantityTable: readonly (readonly [QuantityName, QuantityRow])[] = quantityNames.map((name) => [
  name,
  rows[name],
]);
