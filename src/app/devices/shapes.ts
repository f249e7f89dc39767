/** The register maps that the device types have by default. */
import type { AppConfig } from '../../config/settings/app-config.ts';
import { deviceTypeNames, deviceTypes } from '../../config/profile/device-types.ts';
import type { DeviceTypeName } from '../../config/profile/device-types.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import { createTemplate } from '../../der/device/template.ts';
import type { Layout } from '../../sunspec/map/layout.ts';

/**
 * Device types, without aliases, whose map passes a test. Takes up to a second, so it is used only for messages about a
 * start that fails.
 */
export function typesWith(
  { deviceOf, grid, simModels }: AppConfig,
  passes: (layout: Layout) => boolean,
): DeviceTypeName[] {
  const types = deviceTypeNames.filter(
    (name, at) => deviceTypeNames.findIndex((other) => deviceTypes[other] === deviceTypes[name]) === at,
  );
  return types.filter((name) => {
    try {
      const { profile, phases } = deviceOf({ device_type: name, profile: deviceTypes[name].defaultProfile }, 0);
      return passes(
        createTemplate(profile, phases, grid.nominalFrequencyHz, simTimeFromMs(0), 0, { withSimModels: simModels })
          .layout,
      );
    } catch (error) {
      // the other settings do not fit this type
      if (error instanceof SimError) return false;
      throw error;
    }
  });
}
