import java.util.Collections;
import java.util.List;

class Names {
	static void sort(List<String> names) {
		Collections.sort(names);
	}
}
