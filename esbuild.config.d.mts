/** Names of the packages that are not part of a build. */
export declare const externalPackages: string[];
