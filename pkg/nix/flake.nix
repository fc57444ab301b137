# In a clone: nix build ./pkg/nix; from elsewhere: nix build 'git+URL?dir=pkg/nix'
{
  description = "Evaluate AI agents and their skills";
  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "i686-linux" "aarch64-linux" "armv7l-linux" "riscv64-linux"
        "powerpc64le-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: builtins.listToAttrs
        (map (system: { name = system; value = f nixpkgs.legacyPackages.${system}; }) systems);
      waza = pkgs: pkgs.stdenv.mkDerivation {
        pname = "waza";
        version = "0.1.0";
        src = ../..;
        enableParallelBuilding = true;
        makeFlags = [ "CC=${pkgs.stdenv.cc.targetPrefix}cc" "PREFIX=${placeholder "out"}" ];
        # the unit tests, and the parsers with stored inputs
        doCheck = true;
        checkFlags = [ "SCRIPTS=test/fuzz/replay.t" ];
        meta = {
          description = "Evaluate AI agents and their skills";
          license = with pkgs.lib.licenses; [ isc unicode-30 ];
          mainProgram = "waza";
        };
      };
    in {
      packages = each (pkgs: { default = waza pkgs; });
      apps = each (pkgs: {
        default = { type = "app"; program = "${waza pkgs}/bin/waza"; };
      });
    };
}
