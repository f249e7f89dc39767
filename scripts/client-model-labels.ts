/**
 * Our own words for the models that only the client knows: those of devices built before the 700 series, and of batteries.
 * Keys as in `model-labels.ts`; scale factors follow by rule there.
 */
type Labels = Readonly<Record<string, string>>;

function of(modelIds: readonly number[], group: string, labels: Labels): [string, string][] {
  return modelIds.flatMap((id) => Object.entries(labels).map(([name, label]): [string, string] => [`${id}.${group}${name}`, label]));
}

const quadrant = (name: string, label: string): Labels =>
  Object.fromEntries([1, 2, 3, 4].map((number) => [`${name}Q${number}`, `${label}, quadrant ${number}`]));

const inverter: Labels = {
  A: 'AC current, sum of the phases',
  AphA: 'AC current, phase A',
  AphB: 'AC current, phase B',
  AphC: 'AC current, phase C',
  PPVphAB: 'Line-line voltage A-B',
  PPVphBC: 'Line-line voltage B-C',
  PPVphCA: 'Line-line voltage C-A',
  PhVphA: 'Line-neutral voltage, phase A',
  PhVphB: 'Line-neutral voltage, phase B',
  PhVphC: 'Line-neutral voltage, phase C',
  W: 'Active power',
  Hz: 'Frequency',
  VA: 'Apparent power',
  VAr: 'Reactive power',
  PF: 'Power factor in percent',
  WH: 'Lifetime energy delivered',
  DCA: 'DC current',
  DCV: 'DC voltage',
  DCW: 'DC power',
  TmpCab: 'Cabinet temperature',
  TmpSnk: 'Heat-sink temperature',
  TmpTrns: 'Temperature of the transformer',
  TmpOt: 'Further temperature',
  St: 'Inverter state machine',
  StVnd: 'State in words of the vendor',
  Evt1: 'Active alarms',
  Evt2: 'Reserved for more alarms',
  EvtVnd1: 'Alarms of the vendor, 1',
  EvtVnd2: 'Alarms of the vendor, 2',
  EvtVnd3: 'Alarms of the vendor, 3',
  EvtVnd4: 'Alarms of the vendor, 4',
  VAr_SF: 'Scale factor of reactive power',
  WH_SF: 'Scale factor of energy',
};

const ratings: Labels = {
  DERTyp: 'Kind of device',
  WRtg: 'Rated active power',
  VARtg: 'Rated apparent power',
  ...quadrant('VArRtg', 'Rated reactive power'),
  ARtg: 'Rated AC current',
  ...quadrant('PFRtg', 'Smallest rated power factor'),
  WHRtg: 'Rated energy of the storage',
  AhrRtg: 'Usable charge of the storage',
  MaxChaRte: 'Rated charge power',
  MaxDisChaRte: 'Rated discharge power',
};

const settings: Labels = {
  WMax: 'Largest active power',
  VRef: 'Nominal voltage at the connection point',
  VRefOfs: 'Voltage from connection point to inverter',
  VMax: 'Highest permitted voltage',
  VMin: 'Lowest permitted voltage',
  VAMax: 'Largest apparent power',
  ...quadrant('VArMax', 'Largest reactive power'),
  WGra: 'Ramp rate of active power',
  ...quadrant('PFMin', 'Smallest power factor'),
  VArAct: 'Sign of reactive power when charging turns to discharging',
  ClcTotVA: 'How apparent powers add up',
  MaxRmpRte: 'Upper bound of ramp rates',
  ECPNomHz: 'Nominal frequency',
  ConnPh: 'Phase of a single-phase device',
};

const status: Labels = {
  PVConn: 'PV side: present and working',
  StorConn: 'Storage side: present and working',
  ECPConn: 'Connection to the grid',
  ActWh: 'Lifetime active energy',
  ActVAh: 'Lifetime apparent energy',
  ...quadrant('ActVArh', 'Lifetime reactive energy'),
  VArAval: 'Reactive power to be had without loss of active power',
  WAval: 'Active power to be had',
  StSetLimMsk: 'Settings that bind now',
  StActCtl: 'Functions that act now',
  TmSrc: 'Where the time comes from',
  Tms: 'Time in seconds since the year 2000',
  RtSt: 'Rides through a disturbance',
  Ris: 'Insulation resistance',
};

/** What each control of 123 has besides its value. */
const timing = (name: string, what: string): Labels => ({
  [`${name}_WinTms`]: `Random delay before ${what}`,
  [`${name}_RvrtTms`]: `Reversion time of ${what}`,
  [`${name}_RmpTms`]: `Ramp time of ${what}`,
});

const controls: Labels = {
  Conn: 'Connect or disconnect',
  ...timing('Conn', 'the connection'),
  WMaxLimPct: 'Active power limit, share of WMax',
  ...timing('WMaxLimPct', 'the power limit'),
  WMaxLim_Ena: 'Active power limit: on/off',
  OutPFSet: 'Constant power factor',
  ...timing('OutPFSet', 'the power factor'),
  OutPFSet_Ena: 'Constant power factor: on/off',
  VArWMaxPct: 'Reactive power, share of WMax',
  VArMaxPct: 'Reactive power, share of its maximum',
  VArAvalPct: 'Reactive power, share of what is available',
  ...timing('VArPct', 'the reactive power'),
  VArPct_Mod: 'Which of the three shares counts',
  VArPct_Ena: 'Constant reactive power: on/off',
};

const storage: Labels = {
  WChaMax: 'Largest charge power',
  WChaGra: 'Ramp rate of charging',
  WDisChaGra: 'Ramp rate of discharging',
  StorCtl_Mod: 'Which limits are in force',
  VAChaMax: 'Largest apparent power while charging',
  MinRsvPct: 'Reserve that stays in the storage',
  ChaState: 'State of charge',
  StorAval: 'Charge above the reserve',
  InBatV: 'Battery voltage',
  ChaSt: 'Charging, discharging or at rest',
  OutWRte: 'Discharge power limit or target',
  InWRte: 'Charge power limit or target',
  ...timing('InOutWRte', 'charge and discharge power'),
  ChaGriSet: 'Whether the grid may charge the storage',
};

const pricing: Labels = {
  ModEna: 'Function on/off',
  SigType: 'What the signal means',
  Sig: 'The price signal',
  WinTms: 'Random delay before a change',
  RvtTms: 'Reversion time',
  RmpTms: 'Ramp time of a change',
};

const voltVar: Labels = {
  ActCrv: 'Curve in force, 0 = none',
  ModEna: 'Function on/off',
  WinTms: 'Random delay before a change',
  RvrtTms: 'Reversion time',
  RmpTms: 'Ramp time of a change',
  NCrv: 'Curves in the map',
  NPt: 'Points per curve that count',
  RmpIncDec_SF: 'Scale factor of ramp rates',
};

const voltVarCurve: Labels = {
  '': 'Curve',
  '.ActPt': 'Points in use',
  '.DeptRef': 'What 100 % on the y axis means',
  ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => i + 1).flatMap((point) => [
    [`.V${point}`, `x of point ${point}: voltage, share of VRef`], [`.VAr${point}`, `y of point ${point}: reactive power`],
  ])),
  '.CrvNam': 'Name of the curve',
  '.RmpTms': 'Time constant of the answer',
  '.RmpDecTmm': 'Ramp rate downwards',
  '.RmpIncTmm': 'Ramp rate upwards',
  '.ReadOnly': 'Whether the curve refuses writes',
};

const mppt: Labels = {
  Evt: 'Active alarms of the whole DC side',
  N: 'Inputs in the map',
  TmsPer: 'Period of the time stamps',
  module: 'DC input',
  'module.ID': 'Number of the input',
  'module.IDStr': 'Name of the input',
  'module.DCA': 'Current of the input',
  'module.DCV': 'Voltage of the input',
  'module.DCW': 'Power of the input',
  'module.DCWH': 'Lifetime energy of the input',
  'module.Tms': 'Time stamp in seconds since the year 2000',
  'module.Tmp': 'Temperature of the input',
  'module.DCSt': 'State of the input',
  'module.DCEvt': 'Active alarms of the input',
};

const bank: Labels = {
  NStr: 'Strings of the bank',
  NStrCon: 'Strings that are connected',
  ModTmpMax: 'Hottest module',
  ModTmpMaxStr: 'String with the hottest module',
  ModTmpMaxMod: 'Number of the hottest module',
  ModTmpMin: 'Coldest module',
  ModTmpMinStr: 'String with the coldest module',
  ModTmpMinMod: 'Number of the coldest module',
  ModTmpAvg: 'Mean temperature of the modules',
  StrVMax: 'Highest string voltage',
  StrVMaxStr: 'String with the highest voltage',
  StrVMin: 'Lowest string voltage',
  StrVMinStr: 'String with the lowest voltage',
  StrVAvg: 'Mean string voltage',
  StrAMax: 'Largest string current',
  StrAMaxStr: 'String with the largest current',
  StrAMin: 'Smallest string current',
  StrAMinStr: 'String with the smallest current',
  StrAAvg: 'Mean string current',
  NCellBal: 'Cells that are being balanced',
  ModTmp_SF: 'Scale factor of temperatures',
  string: 'String of the bank',
};

/** A string, as a repeated group of 803 and as a model of its own. */
const aString: Labels = {
  NMod: 'Modules in the string',
  St: 'Whether the string is enabled and connected',
  ConFail: 'Why it did not connect',
  NCellBal: 'Cells that are being balanced',
  SoC: 'State of charge',
  DoD: 'Depth of discharge',
  NCyc: 'Cycles so far',
  SoH: 'State of health',
  A: 'Current',
  V: 'Voltage',
  CellVMax: 'Highest cell voltage',
  CellVMaxMod: 'Module with the highest cell voltage',
  CellVMin: 'Lowest cell voltage',
  CellVMinMod: 'Module with the lowest cell voltage',
  CellVAvg: 'Mean cell voltage',
  ModTmpMax: 'Hottest module',
  ModTmpMaxMod: 'Number of the hottest module',
  ModTmpMin: 'Coldest module',
  ModTmpMinMod: 'Number of the coldest module',
  ModTmpAvg: 'Mean temperature of the modules',
  DisRsn: 'Why it is disabled',
  ConSt: 'Positions of the contactors',
  Evt1: 'Alarms and warnings',
  Evt2: 'Reserved for more alarms',
  EvtVnd1: 'Alarms of the vendor, 1',
  EvtVnd2: 'Alarms of the vendor, 2',
  SetEna: 'Enable or disable the string',
  SetCon: 'Connect or disconnect the string',
};

const stringModule: Labels = {
  '': 'Module of the string',
  '.ModNCell': 'Cells of the module',
  '.ModSoC': 'State of charge',
  '.ModSoH': 'State of health',
  '.ModCellVMax': 'Highest cell voltage',
  '.ModCellVMaxCell': 'Cell with the highest voltage',
  '.ModCellVMin': 'Lowest cell voltage',
  '.ModCellVMinCell': 'Cell with the lowest voltage',
  '.ModCellVAvg': 'Mean cell voltage',
  '.ModCellTmpMax': 'Hottest cell',
  '.ModCellTmpMaxCell': 'Number of the hottest cell',
  '.ModCellTmpMin': 'Coldest cell',
  '.ModCellTmpMinCell': 'Number of the coldest cell',
  '.ModCellTmpAvg': 'Mean temperature of the cells',
};

const batteryModule: Labels = {
  StrIdx: 'Number of the string',
  ModIdx: 'Number of the module in its string',
  NCell: 'Cells of the module',
  SoC: 'State of charge',
  DoD: 'Depth of discharge',
  SoH: 'State of health',
  NCyc: 'Cycles so far',
  V: 'Voltage',
  CellVMax: 'Highest cell voltage',
  CellVMaxCell: 'Cell with the highest voltage',
  CellVMin: 'Lowest cell voltage',
  CellVMinCell: 'Cell with the lowest voltage',
  CellVAvg: 'Mean cell voltage',
  CellTmpMax: 'Hottest cell',
  CellTmpMaxCell: 'Number of the hottest cell',
  CellTmpMin: 'Coldest cell',
  CellTmpMinCell: 'Number of the coldest cell',
  CellTmpAvg: 'Mean temperature of the cells',
  NCellBal: 'Cells that are being balanced',
  SN: 'Serial number',
};

const cell: Labels = { '': 'Cell', '.CellV': 'Voltage', '.CellTmp': 'Temperature', '.CellSt': 'Whether it is being balanced' };

/** `120.WRtg_SF` and the like: the point without the ending is what it scales. */
const scaleFactors = of([120, 121, 122, 123, 124, 125], '', Object.fromEntries([
  'WRtg', 'VARtg', 'VArRtg', 'ARtg', 'PFRtg', 'WHRtg', 'AhrRtg', 'MaxChaRte', 'MaxDisChaRte', 'WMax', 'VRef', 'VRefOfs', 'VMinMax',
  'VAMax', 'VArMax', 'WGra', 'PFMin', 'MaxRmpRte', 'ECPNomHz', 'VArAval', 'WAval', 'Ris', 'WMaxLimPct', 'OutPFSet', 'VArPct',
  'WChaMax', 'WChaDisChaGra', 'VAChaMax', 'MinRsvPct', 'ChaState', 'StorAval', 'InBatV', 'InOutWRte', 'Sig',
].map((name) => [`${name}_SF`, `Power of ten of ${name}`])));

export const clientLabels: Labels = Object.fromEntries([
  ...of([101, 111], '', { ...inverter }), ...of([102, 112], '', inverter), ...of([103, 113], '', inverter),
  ...Object.entries({
    101: 'Single-phase inverter', 102: 'Split-phase inverter', 103: 'Three-phase inverter',
    111: 'Single-phase inverter, floating point', 112: 'Split-phase inverter, floating point', 113: 'Three-phase inverter, floating point',
    120: 'Ratings', 121: 'Settings', 122: 'Status and energies', 123: 'Direct controls', 124: 'Storage controls',
    125: 'Price signal', 126: 'Volt-var curves', 160: 'DC inputs', 803: 'Battery bank, lithium-ion', 804: 'Battery string, lithium-ion',
    805: 'Battery module, lithium-ion',
  }),
  ...of([120, 121, 122, 123, 124, 125, 126, 160, 803, 804, 805], '', {
    Pad: 'Filler register', Pad1: 'Filler register', Pad2: 'Filler register', Pad3: 'Filler register', Pad4: 'Filler register',
  }),
  ...scaleFactors,
  ...of([120], '', ratings), ...of([121], '', settings), ...of([122], '', status), ...of([123], '', controls),
  ...of([124], '', storage), ...of([125], '', pricing), ...of([126], '', voltVar), ...of([126], 'curve', voltVarCurve),
  ...of([160], '', mppt), ...of([803], '', bank),
  ...of([803], 'string.Str', aString), ...of([803], 'string.', { Pad1: 'Filler register', Pad2: 'Filler register' }),
  ...of([804], '', { Idx: 'Number of the string', ...aString, ModTmp_SF: 'Scale factor of temperatures' }),
  ...of([804], 'lithium_ion_string_module', {
    ...stringModule, '.Pad5': 'Filler register', '.Pad6': 'Filler register', '.Pad7': 'Filler register',
  }),
  ...of([805], '', batteryModule), ...of([805], 'lithium-ion-module-cell', cell),
]);
