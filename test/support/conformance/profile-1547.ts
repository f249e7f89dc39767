/** Models and points that the SunSpec profile for IEEE 1547-2018 asks for, by plain name; headers and counts go without saying. */

const voltages = { single: ['LNV', 'VL1'], split: ['LLV', 'LNV', 'VL1L2', 'VL1', 'VL2'], three: ['LLV', 'LNV', 'VL1L2', 'VL1', 'VL2L3', 'VL2', 'VL3L1', 'VL3'] } as const;
export type Phases = keyof typeof voltages;

const trip = (quantity: 'V' | 'Hz') => [
  'Ena', 'AdptCrvReq', 'AdptCrvRslt', 'NPt', 'NCrvSet', `${quantity}_SF`, 'Tms_SF', 'Crv.ReadOnly', 'Crv.MustTrip.ActPt', `Crv.MustTrip.Pt.${quantity}`, 'Crv.MustTrip.Pt.Tms',
];

/** Ratings of 702; those of charging belong to devices that take power. */
const ratings = [
  'WMaxRtg', 'WOvrExtRtg', 'WOvrExtRtgPF', 'WUndExtRtg', 'WUndExtRtgPF', 'VAMaxRtg', 'VarMaxInjRtg', 'VarMaxAbsRtg', 'VNomRtg', 'VMaxRtg', 'VMinRtg',
  'CtrlModes', 'NorOpCatRtg', 'AbnOpCatRtg', 'ReactSusceptRtg', 'W_SF', 'PF_SF', 'VA_SF', 'Var_SF', 'V_SF', 'S_SF',
];
const chargeRatings = ['WChaRteMaxRtg', 'VAChaRteMaxRtg'];

/** @param charges the device takes power from the grid */
export function profilePoints(phases: Phases, charges: boolean): ReadonlyMap<number, readonly string[]> {
  return new Map<number, readonly string[]>([
    [1, ['ID', 'L', 'Mn', 'Md', 'SN', 'Vr']],
    [701, ['W', 'Var', ...voltages[phases], 'Hz', 'St', 'ConnSt', 'Alrm', 'V_SF', 'Hz_SF', 'W_SF', 'Var_SF']],
    [702, charges ? [...ratings, ...chargeRatings] : ratings],
    [703, ['ES', 'ESVHi', 'ESVLo', 'ESHzHi', 'ESHzLo', 'ESDlyTms', 'ESRmpTms', 'V_SF', 'Hz_SF']],
    [704, [
      'PFWInjEna', 'PFWInj.PF', 'PFWInj.Ext', 'PF_SF', 'VarSetEna', 'VarSetMod', 'VarSetPri', 'VarSetPct', 'VarSetPct_SF', 'WMaxLimPctEna', 'WMaxLimPct', 'WMaxLimPct_SF',
    ]],
    [705, [
      'Ena', 'AdptCrvReq', 'AdptCrvRslt', 'NPt', 'NCrv', 'V_SF', 'DeptRef_SF', 'RspTms_SF', 'Crv.ActPt', 'Crv.DeptRef', 'Crv.Pri', 'Crv.VRef', 'Crv.VRefAutoEna',
      'Crv.VRefAutoTms', 'Crv.RspTms', 'Crv.ReadOnly', 'Crv.Pt.V', 'Crv.Pt.Var',
    ]],
    [706, ['Ena', 'AdptCrvReq', 'AdptCrvRslt', 'NPt', 'NCrv', 'V_SF', 'DeptRef_SF', 'RspTms_SF', 'Crv.ActPt', 'Crv.DeptRef', 'Crv.RspTms', 'Crv.ReadOnly', 'Crv.Pt.V', 'Crv.Pt.W']],
    [707, trip('V')], [708, trip('V')], [709, trip('Hz')], [710, trip('Hz')],
    [711, ['Ena', 'AdptCtlReq', 'AdptCtlRslt', 'NCtl', 'Db_SF', 'K_SF', 'RspTms_SF', 'Ctl.DbOf', 'Ctl.DbUf', 'Ctl.KOf', 'Ctl.KUf', 'Ctl.RspTms', 'Ctl.ReadOnly']],
    [712, ['Ena', 'AdptCrvReq', 'AdptCrvRslt', 'NPt', 'NCrv', 'W_SF', 'DeptRef_SF', 'Crv.ActPt', 'Crv.DeptRef', 'Crv.Pri', 'Crv.ReadOnly', 'Crv.Pt.W', 'Crv.Pt.Var']],
    [713, ['SoC', 'Pct_SF']],
  ]);
}
