class Waza < Formula
  desc "Evaluate AI agents and their skills"
  homepage "@WAZA_HOME_URL@"
  url "@WAZA_HOME_URL@/releases/download/v0.1.0/waza-0.1.0.tar.gz"
  sha256 "@SHA256@"
  license all_of: ["ISC", "Unicode-3.0"]

  def install
    system "make", "install", "CC=#{ENV.cc}", "PREFIX=#{prefix}", "MANDIR=#{man}"
    pkgshare.install "examples"
  end

  test do
    assert_equal "waza #{version}", shell_output("#{bin}/waza --version").strip
    (testpath/"eval.yaml").write <<~YAML
      name: greeting
      skill: greeting
      config: {executor: mock}
      tasks:
        - {id: a, prompt: hello, graders: [{type: text, contains: [hello]}]}
    YAML
    system bin/"waza", "run", "eval.yaml"
  end
end
