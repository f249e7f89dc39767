import { z } from 'zod';
import type { Issue } from '../../../core/errors.ts';
import { turbulenceClasses, windCpModels, windTurbines } from '../../../contract/kinds/wind.ts';
import type { WindParameters, WindTurbineName, WindTurbineType } from '../../../contract/kinds/wind.ts';

const turbineNames = Object.keys(windTurbines) as [WindTurbineName, ...WindTurbineName[]];
const heightM = z.number().min(1).max(500);

/** The `wind` block of a device profile. */
export const windSchema = z
  .strictObject({
    turbine: z.enum(turbineNames).optional().meta({
      description:
        'Turbine; default nrel-5mw for type III; for type IV iea-15mw from 1 MW of WMaxRtg up, farm-100kw below.',
    }),
    rated_power_w: z
      .number()
      .min(1)
      .max(1e9)
      .optional()
      .meta({
        description:
          'AC rating that the rotor area is scaled to, W; default WMaxRtg if model 702 gives WMaxRtg or ' +
          'VAMaxRtg, else the rating of the turbine. May be above WMaxRtg: the inverter then limits the turbine.',
      }),
    rotor_diameter_m: z
      .number()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Rotor diameter, m; default that of the turbine, scaled to the rated power.' }),
    hub_height_m: heightM
      .optional()
      .meta({ description: 'Height of the hub, m; default that of the turbine, at least 0.6 rotor diameters.' }),
    cp_model: z.enum(windCpModels).optional().meta({
      description:
        'Power coefficient: table of the NREL 5-MW rotor, Heier or Slootweg; default nrel-5mw for that turbine, else heier.',
    }),
    cut_in_m_s: z
      .number()
      .min(1)
      .max(10)
      .optional()
      .meta({ description: 'Mean wind at the hub from which the turbine starts, m/s; default 3.' }),
    cut_out_m_s: z
      .number()
      .min(12)
      .max(45)
      .optional()
      .meta({ description: 'Mean wind at the hub above which the turbine stops, m/s; default 25.' }),
    air_density_kg_m3: z
      .number()
      .min(0.5)
      .max(1.6)
      .optional()
      .meta({ description: 'Air density, kg/m3; default 1.225.' }),
    turbulence_class: z
      .enum(turbulenceClasses)
      .optional()
      .meta({ description: 'Turbulence class of IEC 61400-1, or none; default B.' }),
    anemometer_height_m: heightM
      .optional()
      .meta({ description: 'Height at which the wind is measured, m; default 5.' }),
    shear_exponent: z.number().min(0).max(0.6).optional().meta({
      description: 'Exponent of the power law from anemometer to hub; default 0.14 (sea 0.10, rough land 0.20).',
    }),
    efficiency_nominal: z
      .number()
      .min(0.8)
      .max(1)
      .optional()
      .meta({ description: 'Nominal inverter efficiency; default 0.97.' }),
    reactive_share: z
      .number()
      .min(0)
      .max(0.99)
      .optional()
      .meta({
        description:
          'Reactive power at full active power, as a fraction of the apparent power rating; default 0.33 ' +
          '(nrel-5mw), 0.50 (iea-15mw), 0.44 (farm-100kw).',
      }),
    lvrt_gain: z.number().min(0).max(10).optional().meta({
      description: 'Additional reactive current in a voltage dip, pu per pu of voltage below 0.9 pu; default 2.',
    }),
    lvrt_recovery_s: z
      .number()
      .min(0.01)
      .max(10)
      .optional()
      .meta({ description: 'Time from the end of a dip until active power is back, s; default 0.5.' }),
    start_delay_s: z
      .number()
      .min(0)
      .max(3600)
      .optional()
      .meta({ description: 'Time for which the mean wind must be above cut-in before a start, s; default 60.' }),
    storm_delay_s: z.number().min(0).max(36_000).optional().meta({
      description:
        'Time for which the mean wind must be 3 m/s below cut-out before the return from a storm stop, s; default 300.',
    }),
  })
  .meta({ description: 'Wind turbine.' });

export type WindInput = z.infer<typeof windSchema>;

function defaultTurbine(ratedW: number, type: WindTurbineType | undefined): WindTurbineName {
  if (type === 'T3') return 'nrel-5mw';
  if (type === 'T4') return ratedW >= 1e6 ? 'iea-15mw' : 'farm-100kw';
  if (ratedW >= 1e7) return 'iea-15mw';
  return ratedW >= 1e6 ? 'nrel-5mw' : 'farm-100kw';
}

/**
 * Fills in the defaults of the block.
 * @param ratedW 702.WMaxRtg; selects the turbine if none is given
 * @param where prefix of the key in an issue
 * @param type type of turbine required by the device type; undefined: either
 */
export function resolveWind(
  input: WindInput,
  ratedW: number,
  where: string,
  issues: Issue[],
  type?: WindTurbineType,
): WindParameters {
  const turbine = input.turbine ?? defaultTurbine(ratedW, type);
  const machine = windTurbines[turbine];
  if (type !== undefined && machine.type !== type) {
    const allowed = turbineNames.filter((name) => windTurbines[name].type === type);
    issues.push({
      name: `${where}: wind.turbine`,
      detail: `given ${turbine}, which is of type ${machine.type}; allowed: ${allowed.join(', ')}`,
      allowed,
    });
  }
  const ratedPowerW = input.rated_power_w ?? machine.ratedPowerW;
  const rotorDiameterM =
    input.rotor_diameter_m ?? machine.rotorDiameterM * Math.sqrt(ratedPowerW / machine.ratedPowerW);
  const hubHeightM = input.hub_height_m ?? Math.max(machine.hubHeightM, Math.ceil(0.6 * rotorDiameterM));
  if (hubHeightM <= rotorDiameterM / 2) {
    issues.push({
      name: `${where}: wind.hub_height_m`,
      detail: `given ${hubHeightM}; allowed: above half the rotor diameter, which is ${rotorDiameterM / 2}`,
    });
  }
  return {
    turbine,
    turbineType: machine.type,
    ratedPowerW,
    hubHeightM,
    rotorDiameterM,
    cpModel: input.cp_model ?? machine.cpModel,
    cutInMS: input.cut_in_m_s ?? machine.cutInMS,
    cutOutMS: input.cut_out_m_s ?? machine.cutOutMS,
    airDensityKgM3: input.air_density_kg_m3 ?? 1.225,
    turbulenceClass: input.turbulence_class ?? 'B',
    anemometerHeightM: input.anemometer_height_m ?? 5,
    shearExponent: input.shear_exponent ?? 0.14,
    efficiencyNominal: input.efficiency_nominal ?? 0.97,
    reactiveShare: input.reactive_share ?? machine.reactiveShare,
    lvrtGain: input.lvrt_gain ?? 2,
    lvrtRecoveryS: input.lvrt_recovery_s ?? 0.5,
    startDelayS: input.start_delay_s ?? 60,
    stormDelayS: input.storm_delay_s ?? 300,
    dcVoltageV: machine.dcVoltageV,
  };
}
